import { expect, test } from '@jest/globals';
import type { Database } from '../../infra/db/database.ts';
import { NO_TEXT, PostEntity, type Post } from '../../infra/db/entities/post.entity.ts';
import { add, writeHeld } from '../../infra/db/rows.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { lockPost } from '../../infra/ledger/post-state.ts';
import { organization } from '../support/factories.ts';
import { useDatabase } from '../support/use-database.ts';

let db: Database;
useDatabase((opened) => {
  db = opened;
}, { pool: 2 });

const NOW = new Date('2026-11-21T10:00:00.123Z');
let posts = 0;

async function aPost(): Promise<string> {
  const { id: organizationId } = await organization({ db } as never);
  const id = `post_${++posts}`;
  await inScope(db, SYSTEM, async (tx) => {
    add(tx, PostEntity, {
      id, organizationId, mode: 'test', workspaceGiven: false, status: 'draft', content: `it's "ü" ? ?? \\ $1 :a`, textSource: NO_TEXT, skipSignature: false, shortenUrls: false, media: [{ url: 'https://a.example/?b=1' }], timezone: 'UTC',
      scheduledAt: NOW, maxLatenessSeconds: 1, onLate: 'hold', revision: 1, seq: 1, eventSeq: 0, createdBy: { type: 'system', id: null }, createdAt: NOW, updatedAt: NOW,
    });
  });
  return id;
}

const byOrm = (id: string): Promise<Post> => inScope(db, SYSTEM, async (tx) => ({ ...(await tx.findOneOrFail(PostEntity, { id })) }));
const version = (id: string): Promise<string> => inScope(db, SYSTEM, async (tx) => (await tx.execute<{ xmin: string }[]>('select xmin from post where id = ?', [id]))[0]!.xmin);

test('a new row is stored with the values that the ORM reads, whatever their type; what was left away is null', async () => {
  expect(await byOrm(await aPost())).toMatchObject({ content: `it's "ü" ? ?? \\ $1 :a`, textSource: NO_TEXT, skipSignature: false, shortenUrls: false, media: [{ url: 'https://a.example/?b=1' }], targetOptions: null, notes: null, scheduledAt: NOW, workspaceGiven: false, createdBy: { type: 'system', id: null } });
});

test('what became different in a locked row is written at the end of the transaction', async () => {
  const id = await aPost();
  await inScope(db, SYSTEM, async (tx) => {
    const { post } = (await lockPost(tx, id))!;
    Object.assign(post, { content: null, media: null, targetOptions: { mastodon: { visibility: 'public' } }, scheduledAt: new Date(NOW.getTime() + 1), revision: 2 });
  });
  expect(await byOrm(id)).toMatchObject({ content: null, media: null, targetOptions: { mastodon: { visibility: 'public' } }, scheduledAt: new Date(NOW.getTime() + 1), revision: 2, timezone: 'UTC' });
});

test('a row in which nothing became different is not written', async () => {
  const id = await aPost();
  const before = await version(id);
  await inScope(db, SYSTEM, async (tx) => {
    const { post } = (await lockPost(tx, id))!;
    Object.assign(post, { scheduledAt: new Date(NOW), media: [{ url: 'https://a.example/?b=1' }] });
  });
  expect(await version(id)).toBe(before);
});

test('who locks a row again has the object that is held, with its changes', async () => {
  const id = await aPost();
  await inScope(db, SYSTEM, async (tx) => {
    const first = (await lockPost(tx, id))!;
    first.post.notes = 'once';
    expect((await lockPost(tx, id))!.post).toBe(first.post);
  });
  expect((await byOrm(id)).notes).toBe('once');
});

test('a row written early may change again before the end', async () => {
  const id = await aPost();
  await inScope(db, SYSTEM, async (tx) => {
    const { post } = (await lockPost(tx, id))!;
    post.notes = 'early';
    await writeHeld(tx);
    post.notes = 'late';
  });
  expect((await byOrm(id)).notes).toBe('late');
});

test('a transaction that fails writes nothing', async () => {
  const id = await aPost();
  const failing = inScope(db, SYSTEM, async (tx) => {
    (await lockPost(tx, id))!.post.notes = 'never';
    throw new Error('on purpose');
  });
  await expect(failing).rejects.toThrow('on purpose');
  expect((await byOrm(id)).notes).toBeNull();
});
