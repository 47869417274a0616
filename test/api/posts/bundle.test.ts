import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../infra/contract/ids.ts';
import { BUNDLE_MAX_BYTES } from '../../../infra/contract/limits.ts';
import { seal } from '../../../infra/crypto/envelope.ts';
import { credentialPlace } from '../../../infra/crypto/places.ts';
import { CredentialEntity } from '../../../infra/db/entities/credential.entity.ts';
import { EvidenceEntity } from '../../../infra/db/entities/evidence.entity.ts';
import { OperationEntity } from '../../../infra/db/entities/operation.entity.ts';
import { PostEntity } from '../../../infra/db/entities/post.entity.ts';
import { TargetEntity } from '../../../infra/db/entities/target.entity.ts';
import { inScope, SYSTEM } from '../../../infra/db/tenant.ts';
import { giveVerdict } from '../../../infra/ledger/verdict.ts';
import { apiKey, workspace } from '../../support/factories.ts';
import { carriedOut, codeOf, inSeconds, openWorld, targetOf, type World } from './world.ts';

const TOKEN = 'sandbox-00000000000070008000000000000000-1-canary';

let world: World;
let post: any;
let operation: { mastodon: string; twitter: string };

/** A post that was published on one platform and got lost on another, of accounts whose tokens are known here. */
beforeAll(async () => {
  world = await openWorld();
  const { db, secrets } = world.api.infra;
  await inScope(db, SYSTEM, (tx) => tx.insert(CredentialEntity, {
    accountId: world.twitter.id, organizationId: world.org.id, mode: 'test', generation: 1, refreshesLost: 0, updatedAt: new Date(),
    sealed: seal(secrets.encryptionKeys, credentialPlace({ accountId: world.twitter.id, organizationId: world.org.id }), Buffer.from(JSON.stringify({ access_token: TOKEN }))),
  }));
  post = await world.accepted({
    targets: ['mastodon', 'twitter'], scheduled_at: 'now', notes: 'for us alone', content: `What went out, with ${world.key} and Bearer abc.def in it`,
    media: [{ url: 'https://bucket.example/a.png?X-Amz-Signature=signed-by-us&X-Amz-Date=20261121', type: 'image' }],
  });
  operation = { mastodon: targetOf(post, world.mastodon.id).operation_id, twitter: targetOf(post, world.twitter.id).operation_id };
  await carriedOut(world, operation.mastodon, 'published');
  await carriedOut(world, operation.twitter, 'unknown');
  await inScope(db, SYSTEM, (tx) => tx.insert(EvidenceEntity, {
    id: newId('evidence'), organizationId: world.org.id, mode: 'test', operationId: operation.twitter, kind: 'platform_answer', step: 'publish', source: 'sender', conclusion: 'undetermined',
    observedAt: new Date(), summary: 'The platform answered 500.', data: {
      http_status: 500, content_type: 'text/plain', bytes: 10, truncated: false, platform_request_id: null, missing_proof: 'an id',
      excerpt: `access_token=${TOKEN} at https://api.example/media/med_0123456789abcdef0123456789abcdef/a.png?e=1&s=signed-too`,
    },
  }));
});
afterAll(() => world.close());

const bundleOf = (id: string, key?: string) => world.send('GET', `/v1/posts/${id}/bundle`, undefined, { key });

/** Written anew, so that the digest is checked by other code than made it: pieces are put on a stack and taken off in order. */
function canonical(value: unknown): string {
  let text = '';
  const rest: ({ text: string } | { value: unknown })[] = [{ value }];
  while (rest.length > 0) {
    const one = rest.pop()!;
    if ('text' in one) {
      text += one.text;
    } else if (Array.isArray(one.value)) {
      rest.push({ text: ']' });
      one.value.toReversed().forEach((item, at, all) => rest.push({ value: item }, { text: at === all.length - 1 ? '' : ',' }));
      rest.push({ text: '[' });
    } else if (one.value !== null && typeof one.value === 'object') {
      const members = one.value as Record<string, unknown>;
      rest.push({ text: '}' });
      Object.keys(members).toSorted().toReversed().forEach((name, at, all) => rest.push({ value: members[name] }, { text: `${at === all.length - 1 ? '' : ','}${JSON.stringify(name)}:` }));
      rest.push({ text: '{' });
    } else {
      text += JSON.stringify(one.value);
    }
  }
  return text;
}

function digestOf({ digest: _digest, ...rest }: Record<string, unknown>): string {
  return createHash('sha256').update(canonical(rest)).digest('hex');
}

describe('GET /v1/posts/{id}/bundle', () => {
  test('a file with all that is known about the post', async () => {
    const { status, headers, body } = await bundleOf(post.id);
    expect([status, headers.get('content-type'), headers.get('content-disposition')]).toEqual([200, 'application/json; charset=utf-8', `attachment; filename="oncepost-${post.id}.json"`]);
    expect(Object.keys(body)).toEqual(['format', 'generated_at', 'generated_by', 'post', 'targets', 'timeline', 'operations', 'requests', 'events', 'digest']);
    expect(body).toMatchObject({ format: 'oncepost.bundle/1', generated_by: { type: 'api_key', id: expect.stringMatching(/^key_/) } });
    expect(body.post).toMatchObject({ id: post.id, status: 'partial' });
    expect(body.targets.map((one: any) => one.account_id)).toEqual([world.mastodon.id, world.twitter.id]);
    expect(body.events.map((one: any) => [one.event, one.deliveries])).toEqual(expect.arrayContaining([['post.created', []], ['post.partial', []], ['operation.unknown', []]]));
  });

  test('the timeline is whole, as its own route pages it', async () => {
    const { timeline } = (await bundleOf(post.id)).body;
    expect(timeline.length).toBeGreaterThan(5);
    const page = (await world.send('GET', `/v1/posts/${post.id}/timeline?limit=100`)).body;
    expect([page.has_more, timeline]).toEqual([false, page.data]);
  });

  test('operations with steps, evidence and verdicts, and what each asked of the platform', async () => {
    const { body } = await bundleOf(post.id);
    expect(body.operations.map((one: any) => one.id).toSorted()).toEqual([operation.mastodon, operation.twitter].toSorted());
    const lost = body.operations.find((one: any) => one.id === operation.twitter);
    expect(lost).toMatchObject({ status: 'unknown', steps: [{ name: 'publish', effect: 'public_unkeyed' }], verdicts: [], verdict: null, evidence_count: 1 });
    expect(lost.evidence[0]).toMatchObject({ kind: 'platform_answer', operation_id: operation.twitter });
    expect(body.requests.map((one: any) => one.operation_id)).toEqual(body.operations.map((one: any) => one.id));
    expect(body.requests[0]).toMatchObject({ text: expect.stringContaining('What went out'), media: [{ type: 'image' }], options: {}, target: { platform: 'mastodon', platform_post_id: '4711' } });
  });

  test('the digest is SHA-256 over the canonical JSON of everything else', async () => {
    const { body } = await bundleOf(post.id);
    expect(body.digest).toBe(digestOf(body));
    expect(digestOf({ ...body, format: 'other' })).not.toBe(body.digest);
  });

  test('holds no secret and no notes', async () => {
    const { text, body } = await bundleOf(post.id);
    for (const secret of [TOKEN, world.key, 'abc.def', 'signed-by-us', 'signed-too', 'for us alone']) expect([secret, text.includes(secret)]).toEqual([secret, false]);
    expect(body.post.notes).toBeNull();
    expect(body.post.content).toBe('What went out, with [secret] and [secret] in it');
    expect(body.post.media[0].url).toBe('https://bucket.example/a.png?X-Amz-Signature=[secret]&X-Amz-Date=20261121');
    expect(body.operations.find((one: any) => one.id === operation.twitter).evidence[0].data.excerpt).toBe('[secret] at med_0123456789abcdef0123456789abcdef');
  });

  test('a verdict is in it', async () => {
    const lost = await world.accepted({ targets: ['twitter'], scheduled_at: 'now', content: 'lost' });
    const { operation_id } = targetOf(lost, world.twitter.id);
    await carriedOut(world, operation_id, 'unknown');
    await inScope(world.api.infra.db, SYSTEM, async (tx) => {
      const { revision } = await tx.findOneOrFail(OperationEntity, { id: operation_id });
      const actor = { type: 'api_key', id: newId('key'), name: 'somebody' } as const;
      await giveVerdict(tx, {
        operationId: operation_id, outcome: 'not_published', happened: false, platformPostId: null, url: null, reason: 'looked', expectedRevision: revision, supersedes: null, actor,
        requestId: newId('request'), now: new Date(),
      }, world.api.infra.config.timing);
    });
    const [one] = (await bundleOf(lost.id)).body.operations;
    expect(one.verdicts).toEqual([one.verdict]);
    expect(one.verdict).toMatchObject({ outcome: 'not_published', operation_id });
  });

  test('of a draft: a preview, and nothing of operations', async () => {
    const draft = await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft', content: 'not yet' });
    const { body } = await bundleOf(draft.id);
    expect(body).toMatchObject({ operations: [], requests: [], targets: [{ text: 'not yet' }], timeline: [{ kind: 'created' }] });
    expect(body.digest).toBe(digestOf(body));
  });
});

describe('GET /v1/posts/{id}/bundle › at most 8 MiB', () => {
  /** So many reads of the platform that told nothing, each remembered with much text. */
  async function probed(count: number): Promise<any> {
    const made = await world.accepted({ targets: ['twitter'], scheduled_at: 'now', content: 'watched' });
    const { operation_id, target_id } = targetOf(made, world.twitter.id);
    await carriedOut(world, operation_id, 'unknown');
    const own = { organization: world.org.id, operation: operation_id, post: made.id, target: target_id };
    await inScope(world.api.infra.db, SYSTEM, async (tx) => {
      await tx.execute(
        `insert into timeline_entry (id, organization_id, mode, at, type, post_id, target_id, operation_id, message, data)
         select 'tle_' || lpad(to_hex(n), 32, '0'), ?, 'test', now() + n * interval '1 s', 'probe_finished', ?, ?, ?, n || repeat(' x', 140), '{}' from generate_series(1, ?::int) n`,
        [own.organization, own.post, own.target, own.operation, count]);
      await tx.execute(
        `insert into evidence (id, organization_id, mode, operation_id, kind, source, conclusion, probe_ordinal, observed_at, summary, data)
         select 'obs_' || lpad(to_hex(n), 32, '0'), ?, 'test', ?, 'probe_error', 'probe', 'undetermined', n, now() + n * interval '1 s', repeat('y', 300), '{"http_status":503,"transport_error":null,"reason":"unavailable"}' from generate_series(1, ?::int) n`,
        [own.organization, own.operation, count]);
    });
    return made;
  }

  test('the oldest polls are left out first, and it says so', async () => {
    const made = await probed(11_000);
    const { text, body } = await bundleOf(made.id);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BUNDLE_MAX_BYTES);
    expect(Buffer.byteLength(text)).toBeGreaterThan(BUNDLE_MAX_BYTES * 0.9);
    expect([body.truncated, body.digest]).toEqual([true, digestOf(body)]);
    expect(body.timeline.map((one: any) => one.kind)).toEqual(expect.arrayContaining(['created', 'rendered', 'post_changed']));
    const kept = body.timeline.filter((one: any) => one.data.type === 'probe_finished').map((one: any) => Number(one.message.split(' ')[0]));
    expect(kept.at(-1)).toBe(11_000);
    expect(kept).toEqual(kept.map((_: number, at: number) => kept[0]! + at));
    expect(body.operations[0].evidence.at(-1).probe_ordinal).toBe(11_000);
  }, 60_000);

  test('where polls are not enough, long texts are cut', async () => {
    const made = await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft', content: 'small' });
    await inScope(world.api.infra.db, SYSTEM, async (tx) => {
      await tx.nativeUpdate(PostEntity, { id: made.id }, { content: '😀'.repeat(2_200_000), status: 'scheduled' });
      await tx.nativeUpdate(TargetEntity, { postId: made.id }, { text: 'z'.repeat(50_000), status: 'scheduled' });
    });
    const { text, body } = await bundleOf(made.id);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BUNDLE_MAX_BYTES);
    expect([body.truncated, body.post.content.length, body.targets[0].text.length, body.digest]).toEqual([true, 1_001, 1_001, digestOf(body)]);
  }, 60_000);
});

describe('GET /v1/posts/{id}/bundle › who may read it, and how long', () => {
  test('a deleted post: for 90 days, then 404', async () => {
    const other = await world.accepted({ targets: ['mastodon'], scheduled_at: inSeconds(600), content: 'gone soon' });
    await world.send('DELETE', `/v1/posts/${other.id}`);
    expect((await bundleOf(other.id)).body).toMatchObject({ post: { id: other.id, content: 'gone soon' }, timeline: expect.arrayContaining([expect.objectContaining({ kind: 'deleted' })]) });
    const deleted = (days: number) => inScope(world.api.infra.db, SYSTEM, (tx) => tx.nativeUpdate(PostEntity, { id: other.id }, { deletedAt: new Date(Date.now() - days * 86_400_000) }));
    await deleted(89.9);
    expect((await bundleOf(other.id)).status).toBe(200);
    await deleted(90.1);
    expect(codeOf(await bundleOf(other.id))).toEqual([404, 'POST_NOT_FOUND']);
  });

  test('another workspace: 403; unknown posts: 404', async () => {
    const { infra } = world.api;
    const elsewhere = (await workspace(infra, { organizationId: world.org.id })).id;
    const key = (await apiKey(infra, { organizationId: world.org.id, workspaceScope: [elsewhere] })).secret;
    expect(codeOf(await bundleOf(post.id, key))).toEqual([403, 'WORKSPACE_ACCESS_DENIED']);
    expect(codeOf(await bundleOf('nonsense'))).toEqual([404, 'POST_NOT_FOUND']);
  });
});
