import { expect } from '@jest/globals';
import type { Caller } from './caller.ts';

/** What must hold of every post once nothing is under way any more (I1 to I10 of the fault matrix, as far as they concern it). */
export async function expectInvariants(caller: Caller, postIds: string[]): Promise<void> {
  for (const postId of postIds) {
    const { status, body: post } = await caller.get(`/v1/posts/${postId}`);
    expect(status).toBe(200);
    const ledger = await caller.ledger({ post_id: postId });
    const targets: any[] = Object.values(post.targets);
    for (const target of targets) {
      const [account] = target.accounts;
      const entries = ledger.filter((entry) => entry.target_id === account.target_id && entry.kind === 'publish');
      expect(entries.length).toBeLessThanOrEqual(1);
      expect(entries.every((entry) => entry.double === false)).toBe(true);
      if (target.status === 'published') {
        expect(entries.map((entry) => entry.platform_post_id)).toEqual([account.platform_post_id]);
      } else {
        expect(target.status).toBe('failed');
        if (target.error.code !== 'PROVIDER_OUTCOME_UNKNOWN') expect(entries).toEqual([]);
      }
      const operation = (await caller.get(`/v1/operations/${account.operation_id}`)).body;
      expect(operation.status).toBe(account.operation_state);
      const log = (await caller.get(`/v1/posts/logs/${account.target_id}`)).body;
      expect([log.status, log.platform_post_id, log.error_code]).toEqual([target.status, account.platform_post_id, target.error?.code ?? null]);
    }
    expect(post.status).toBe(statusOf(targets.map((target) => target.status)));
  }
}

function statusOf(statuses: string[]): string {
  if (statuses.every((one) => one === 'published')) return 'published';
  return statuses.includes('published') ? 'partial' : 'failed';
}
