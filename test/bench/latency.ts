import { OperationEntity } from '../../infra/db/entities/operation.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { workflowIds } from '../../infra/contract/workflows.ts';
import { publishOne, resultOf } from './rounds.ts';
import type { Setting } from './setting.ts';
import { atOnce, quantile } from './stats.ts';

export interface Latency {
  p50: number;
  p99: number;
}

/**
 * From the acceptance of a post to the first byte of its call to the platform: `sent_at − created_at` of its operation, as the API shows them.
 * Each caller waits for the end of its post before the next, so that what is measured is no queue of our own making.
 */
export async function acceptToCall(setting: Setting, posts: number, concurrency: number): Promise<Latency> {
  const { client } = setting.system;
  const ids = await atOnce(Array.from({ length: posts }), concurrency, async () => {
    const id = await publishOne(setting);
    await resultOf(client.workflow.getHandle(workflowIds.publishPost(id, 1)));
    return id;
  });
  const operations = await inScope(setting.system.db, SYSTEM, (tx) => tx.find(OperationEntity, { postId: { $in: ids } }));
  const waits = operations.map((one) => one.sentAt!.getTime() - one.createdAt.getTime());
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99) };
}
