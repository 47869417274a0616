import { ApiError } from '../../../infra/contract/errors.ts';
import { PRIORITY } from '../../../infra/contract/queues.ts';
import { lockPlacing } from '../../../infra/db/repositories/busy-times.ts';
import { spreadStarts } from '../../../infra/db/repositories/bulk-starts.ts';
import { inSavepoint } from '../../../infra/db/tenant.ts';
import type { Call, Reply } from '../../route.ts';
import { described, isObject, judgeBody } from '../../validation/body.ts';
import { validationError } from '../../validation/issues.ts';
import { createPost } from './create.ts';
import { createBody } from './posts.schema.ts';

interface CreatedReply extends Reply {
  body: { id: string; scheduled_at: string | null };
}

/** What became of one post of many. */
export type Outcome = { reply: CreatedReply; error: null } | { error: ApiError };

const CREATE = described(createBody);

/**
 * Creates posts one after the other, each as if it were alone: what is refused leaves nothing behind, and what is good stays.
 * Only a fault of the service ends them all.
 */
export async function createEach(call: Call, bodies: readonly unknown[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  // A creation alone takes it before it takes units, and the first of many posts takes units already.
  if (bodies.some((body) => isObject(body) && body.scheduled_at === 'auto')) await lockPlacing(call.tx);
  for (const body of bodies) outcomes.push(await createOne(call, body));
  const postIds = outcomes.flatMap((outcome) => (outcome.error === null ? [outcome.reply.body.id] : []));
  await spreadStarts(call.tx, call.caller, { postIds, now: call.infra.clock.now() });
  return outcomes;
}

/** Where not one of the good posts fits into the month's units, the request as a whole does not. */
export function refuseWithoutUnits(outcomes: readonly Outcome[]): void {
  if (outcomes.some(({ error }) => error === null)) return;
  const beyond = outcomes.flatMap(({ error }) => (error?.code === 'QUOTA_EXCEEDED' ? [error] : []));
  const [first] = beyond;
  if (first !== undefined) throw new ApiError('QUOTA_EXCEEDED', first.message, { details: { ...first.details, requested: beyond.length }, headers: first.headers });
}

async function createOne(call: Call, body: unknown): Promise<Outcome> {
  const { values, issues } = judgeBody(body, CREATE, { now: call.now });
  if (issues.length > 0) return { error: validationError(issues) };
  const after: (() => Promise<void>)[] = [];
  // Its turn is known once all are stored.
  const start = { priority: PRIORITY.bulk, startsAt: call.now };
  try {
    const reply = await inSavepoint(call.tx, (tx) => createPost({ ...call, tx, body: values, afterCommit: (work) => after.push(work) }, start));
    after.forEach((work) => call.afterCommit(work));
    return { reply: reply as CreatedReply, error: null };
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return { error };
    throw error;
  }
}
