import { createHash } from 'node:crypto';
import type { Event } from '../../../infra/db/entities/event.entity.ts';
import { readPostRecord, type PostRecord } from '../../../infra/db/repositories/post-record.ts';
import { readPost } from '../../../infra/db/repositories/posts.ts';
import { verdictsInForce } from '../../../infra/db/repositories/verdicts.ts';
import type { PostState } from '../../../infra/db/repositories/events.ts';
import { instant } from '../../../infra/wire/post-target.ts';
import { canonicalJson } from '../../json/canonical.ts';
import type { Call, Reply } from '../../route.ts';
import { presentOperation, presentRequest, presentVerdict } from '../operations/operations.present.ts';
import { assertReadablePost } from './access.ts';
import { fitBundle, type Bundle } from './bundle-fit.ts';
import { redacted } from './bundle-redact.ts';
import { presentPost, workspacesShown } from './posts.present.ts';
import { presentPostEntry } from './timeline.ts';
import { presentTargetDetails } from './targets.ts';

type Wire = Record<string, unknown>;

/** GET /v1/posts/{id}/bundle: all that is known about a post in one file, to be handed to whoever must find out what happened. */
export async function getBundle(call: Call): Promise<Reply> {
  const state = await readPost(call.tx, call.params.id!);
  assertReadablePost(state?.post ?? null, call);
  const bundle = fitBundle(redacted(await collect(call, state!)));
  const digest = createHash('sha256').update(canonicalJson(bundle)).digest('hex');
  return {
    status: 200,
    body: { ...bundle, digest },
    headers: { 'Content-Disposition': `attachment; filename="oncepost-${state!.post.id}.json"` },
    workspaceIds: workspacesShown(state!.post, call.caller),
  };
}

async function collect(call: Call, state: PostState): Promise<Bundle> {
  const record = await readPostRecord(call.tx, state.post.id);
  const { type, id } = call.caller.actor;
  const byId = new Map(state.targets.map((target) => [target.id, target]));
  return {
    format: 'oncepost.bundle/1',
    generated_at: instant(call.now),
    generated_by: { type, id },
    // Notes are for the people who write the post, not for who reads its bundle.
    post: { ...presentPost(state, call.caller), notes: null },
    targets: await presentTargetDetails(call, state),
    timeline: record.timeline.map((row) => presentPostEntry(row, call.caller)),
    operations: await presentOperations(call, record),
    requests: record.operations.map((operation) => ({ operation_id: operation.id, ...presentRequest(operation, byId.get(operation.targetId ?? '') ?? null) })),
    events: record.events.map(presentEvent),
  };
}

async function presentOperations({ tx, infra }: Call, { operations, steps, evidence, verdicts }: PostRecord): Promise<Wire[]> {
  const inForce = await verdictsInForce(tx, operations);
  return operations.map((operation) => {
    const seen = evidence.get(operation.id) ?? [];
    const parts = { operation, steps: steps.get(operation.id) ?? [], evidence: seen, evidenceCount: seen.length, verdict: inForce.get(operation.id) ?? null };
    return { ...presentOperation(parts, infra.config.temporal.uiUrl), verdicts: (verdicts.get(operation.id) ?? []).map(presentVerdict) };
  });
}

/** No webhook is delivered to yet, so no event has a delivery. */
function presentEvent({ id, event, createdAt }: Event): Wire {
  return { id, event, created_at: instant(createdAt), deliveries: [] };
}
