import { readUsage, usageHeaders } from '../../../infra/db/repositories/usage.ts';
import { shownError } from '../../error-reply.ts';
import type { Call, Reply } from '../../route.ts';
import { isObject } from '../../validation/body.ts';
import { assertNamedWorkspace } from '../../workspace-access.ts';
import { createEach, refuseWithoutUnits, type Outcome } from './bulk-create.ts';

/** POST /v1/posts/bulk. */
export async function createBulk(call: Call): Promise<Reply> {
  const { body, caller, now, tx } = call;
  const posts = body.posts as unknown[];
  for (const workspaceId of namedWorkspaces(posts)) await assertNamedWorkspace(call, workspaceId, 'write');
  const outcomes = await createEach(call, posts);
  refuseWithoutUnits(outcomes);
  const succeeded = outcomes.filter(({ error }) => error === null).length;
  return {
    status: 201,
    body: { data: outcomes.map(presentOutcome), summary: { total: posts.length, succeeded, failed: posts.length - succeeded } },
    headers: usageHeaders(await readUsage(tx, { of: caller, now })),
    workspaceIds: outcomes.flatMap((outcome) => (outcome.error === null ? (outcome.reply.workspaceIds ?? []) : [])),
  };
}

function namedWorkspaces(posts: readonly unknown[]): Set<string> {
  return new Set(posts.flatMap((post) => (isObject(post) && typeof post.workspace_id === 'string' ? [post.workspace_id] : [])));
}

function presentOutcome(outcome: Outcome, index: number): object {
  return outcome.error === null ? { ...outcome.reply.body, index } : { index, status: 'error', error: shownError(outcome.error) };
}
