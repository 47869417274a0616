import { mkdir, writeFile } from 'node:fs/promises';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Caller } from '../support/caller.ts';
import { System } from '../support/system.ts';
import { until } from '../support/until.ts';

/*
 * Records a history of every story the workflows tell, into histories/: `node test/replay/record.ts` on the code that is
 * running in production, before its workflows are changed. The replay test then holds the change against them.
 */

const FOLDER = new URL('./histories/', import.meta.url);

const system = await System.start();
try {
  const tenant = await system.tenant();
  const caller = new Caller(system.baseUrl, tenant.testKey);
  const twitter = tenant.accounts.twitter!.id;
  const mastodon = tenant.accounts.mastodon!.id;
  const publish = async (content: string, targets = [twitter], more = {}) => (await caller.publish({ targets, content, ...more })) as { id: string };
  const save = async (name: string, workflowId: string) => {
    const handle = system.client.workflow.getHandle(workflowId);
    await mkdir(FOLDER, { recursive: true });
    await writeFile(new URL(`${name}.json`, FOLDER), `${historyToJSON(await handle.fetchHistory())}\n`);
  };
  const ended = async (name: string, workflowId: string) => {
    await until(`${workflowId} exists`, () => system.client.workflow.getHandle(workflowId).describe().then(() => true, () => null));
    await system.client.workflow.getHandle(workflowId).result().catch(() => {});
    await save(name, workflowId);
  };
  const operationOf = async (postId: string): Promise<any> => {
    const post = (await caller.ended(postId)) as { targets: Record<string, { accounts: { operation_id: string }[] }> };
    return (await caller.get(`/v1/operations/${post.targets[twitter]!.accounts[0]!.operation_id}`)).body;
  };

  const scheduled = await publish('scheduled', [twitter, mastodon], { scheduled_at: new Date(Date.now() + 3_000).toISOString() });
  const cancelled = await publish('cancelled', [twitter], { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() });
  const late = await publish('late', [twitter], { scheduled_at: new Date(Date.now() - 200_000).toISOString(), catch_up: { max_lateness_seconds: 10, on_late: 'skip' } });
  await ended('publish-post/two-targets', `post/${(await publish('two targets', [twitter, mastodon])).id}/1`);
  await ended('publish-post/waits-for-a-limit', `post/${(await publish('[[sandbox:rate-limit=1]]')).id}/1`);
  await ended('publish-post/keyed-repetition', `post/${(await publish('[[sandbox:drop-before]]', [mastodon])).id}/1`);
  await ended('publish-post/refused', `post/${(await publish('[[sandbox:refuse]]')).id}/1`);
  await ended('publish-post/late', `post/${late.id}/1`);
  await ended('publish-post/scheduled', `post/${scheduled.id}/1`);
  await caller.delete(`/v1/posts/${cancelled.id}`);
  await ended('publish-post/cancelled', `post/${cancelled.id}/1`);

  const found = await operationOf((await publish('[[sandbox:drop-after]]')).id);
  await ended('reconcile-operation/found', `reconcile/${found.id}`);
  const absent = await operationOf((await publish('[[sandbox:drop-before]] absent')).id);
  const other = await system.tenant();
  const hidden = new Caller(system.baseUrl, other.testKey);
  const decide = async (content: string, outcome: Record<string, unknown>) => {
    const post = await hidden.ended((await hidden.publish({ targets: ['twitter'], content })).id);
    const operation = (await hidden.get(`/v1/operations/${post.targets[other.accounts.twitter!.id].accounts[0].operation_id}`)).body;
    await until('it is read for the first time', async () => ((await hidden.get(`/v1/operations/${operation.id}/evidence`)).body.data.some((one: { kind: string }) => one.kind === 'probe_error') ? true : null));
    await hidden.post(`/v1/operations/${operation.id}/verdict`, { reason: 'recorded', expected_revision: operation.revision, ...outcome });
    return operation.id as string;
  };
  const positive = await decide('[[sandbox:hang]] [[sandbox:hide-listing]]', { outcome: 'published', platform_post_id: '1' });
  await ended('reconcile-operation/positive-verdict', `reconcile/${positive}`);
  const negative = await decide('[[sandbox:hang-before]] [[sandbox:hide-listing]]', { outcome: 'not_published' });
  await until('the safety read is planned', async () => ((await system.client.workflow.getHandle(`reconcile/${negative}`).fetchHistory()).events!.some((event) => event.upsertWorkflowSearchAttributesEventAttributes) ? true : null));
  await save('reconcile-operation/negative-verdict-safety-read', `reconcile/${negative}`);
  await ended('reconcile-operation/proved-absent', `reconcile/${absent.id}`);
} finally {
  await system.stop();
}
process.exit(0);
