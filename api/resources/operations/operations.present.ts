import { mediaTypeOf } from '../../../infra/contract/media-type.ts';
import { workflowIds } from '../../../infra/contract/workflows.ts';
import type { Evidence } from '../../../infra/db/entities/evidence.entity.ts';
import type { Operation } from '../../../infra/db/entities/operation.entity.ts';
import type { Step } from '../../../infra/db/entities/step.entity.ts';
import type { Target } from '../../../infra/db/entities/target.entity.ts';
import type { TimelineEntry } from '../../../infra/db/entities/timeline-entry.entity.ts';
import type { Verdict } from '../../../infra/db/entities/verdict.entity.ts';
import { instant } from '../../../infra/wire/post-target.ts';

type Wire = Record<string, unknown>;

/** An operation with what its presentation needs from other tables. Parts that are undefined are left out. */
export interface OperationParts {
  operation: Operation;
  evidenceCount: number;
  verdict: Verdict | null;
  steps?: readonly Step[];
  timeline?: readonly TimelineEntry[];
  evidence?: readonly Evidence[];
}

/** Row → wire. Content, tokens and addresses with secrets are never in an operation. */
export function presentOperation(parts: OperationParts, uiUrl: string | null): Wire {
  const { operation } = parts;
  return {
    id: operation.id,
    kind: operation.kind,
    action: operation.action ?? null,
    status: operation.status,
    revision: operation.revision,
    platform: operation.platform,
    account_id: operation.accountId,
    workspace_id: operation.workspaceId ?? null,
    subject: { type: operation.subjectType, id: operation.subjectId },
    target_id: operation.targetId ?? null,
    post_id: operation.postId ?? null,
    attempt: operation.attempt,
    previous_operation_id: operation.previousOperationId ?? null,
    ...(parts.steps === undefined ? {} : { steps: parts.steps.map(presentStep) }),
    ...(parts.timeline === undefined ? {} : { timeline: parts.timeline.map(presentEntry) }),
    ...(parts.evidence === undefined ? {} : { evidence: parts.evidence.map(presentEvidence) }),
    evidence_count: parts.evidenceCount,
    partial: operation.partial,
    warnings: operation.warnings.map(({ code, message, step }) => ({ code, message, step: step ?? null })),
    next_probe_at: instant(operation.nextProbeAt),
    probing: operation.probing,
    verdict: parts.verdict === null ? null : presentVerdict(parts.verdict),
    settled_by: operation.settledBy ?? null,
    error: presentError(operation.error),
    result: presentResult(operation),
    workflow: presentWorkflow(operation, uiUrl),
    request_id: operation.requestId ?? null,
    created_by: { type: operation.createdBy.type, id: operation.createdBy.id },
    created_at: instant(operation.createdAt),
    sent_at: instant(operation.sentAt),
    settled_at: instant(operation.settledAt),
    unknown_since: instant(operation.unknownSince),
    updated_at: instant(operation.updatedAt),
    ...ofExistingClients(operation),
  };
}

/** Names that existing clients read. None of them is the only place of its fact. */
function ofExistingClients(operation: Operation): Wire {
  const ofSubject = operation.subjectType === 'platform_post' ? operation.subjectId : null;
  return { provider_post_id: operation.result?.platform_post_id ?? ofSubject, provider_operation_id: null, completed_at: instant(operation.settledAt) };
}

/** While the outcome is unknown, reconciliation drives the operation; its run is Temporal's affair. */
function presentWorkflow(operation: Operation, uiUrl: string | null): Wire {
  const isUnknown = operation.status === 'unknown';
  const id = isUnknown ? workflowIds.reconcileOperation(operation.id) : operation.workflowId;
  return {
    id,
    run_id: isUnknown ? null : operation.runId ?? null,
    ui_url: uiUrl === null ? null : `${uiUrl.replace(/\/+$/, '')}/namespaces/default/workflows/${encodeURIComponent(id)}`,
  };
}

function presentError(error: Operation['error']): Wire | null {
  if (!error) return null;
  const { code, message, platform_code, platform_message, http_status, step, retryable, retry_at } = error;
  return { code, message, platform_code, platform_message, http_status, step, retryable, retry_at };
}

function presentResult({ result }: Operation): Wire | null {
  if (!result) return null;
  return { platform_post_id: result.platform_post_id, url: result.url, items: result.items.map(({ step, platform_post_id, url }) => ({ step, platform_post_id, url })) };
}

function presentStep(step: Step): Wire {
  return {
    name: step.name,
    position: step.position,
    effect: step.effect,
    required: step.required,
    state: step.state,
    attempt: step.attempt,
    reused: step.reused,
    progress: step.progress,
    bytes_sent: step.bytesSent ?? null,
    bytes_received: step.bytesReceived ?? null,
    http_status: step.httpStatus ?? null,
    provider_id: step.providerId ?? null,
    error: presentError(step.error),
    started_at: instant(step.startedAt),
    sent_at: instant(step.sentAt),
    finished_at: instant(step.finishedAt),
  };
}

export function presentEntry(entry: TimelineEntry): Wire {
  return {
    id: entry.id,
    at: instant(entry.at),
    type: entry.type,
    step: entry.step ?? null,
    attempt: entry.attempt ?? null,
    message: entry.message,
    evidence_id: entry.evidenceId ?? null,
    actor: entry.actor ? { type: entry.actor.type, id: entry.actor.id } : null,
    data: entry.data,
  };
}

export function presentEvidence(evidence: Evidence): Wire {
  return {
    id: evidence.id,
    operation_id: evidence.operationId,
    kind: evidence.kind,
    step: evidence.step ?? null,
    source: evidence.source,
    conclusion: evidence.conclusion,
    probe_ordinal: evidence.probeOrdinal ?? null,
    observed_at: instant(evidence.observedAt),
    summary: evidence.summary,
    data: evidence.data,
  };
}

/** No verdict supersedes another one before reversal exists. */
export function presentVerdict(verdict: Verdict): Wire {
  return {
    id: verdict.id,
    operation_id: verdict.operationId,
    outcome: verdict.outcome,
    platform_post_id: verdict.platformPostId ?? null,
    url: verdict.url ?? null,
    reason: verdict.reason,
    state: verdict.state,
    actor: { type: verdict.actor.type, id: verdict.actor.id, name: verdict.actor.name },
    request_id: verdict.requestId ?? null,
    expected_revision: verdict.expectedRevision,
    supersedes: null,
    superseded_by: null,
    contradicted_by: verdict.contradictedBy ?? null,
    created_at: instant(verdict.createdAt),
    applied_at: instant(verdict.appliedAt),
  };
}

/** What was asked, as the target holds it frozen for sending. */
export function presentRequest(operation: Operation, target: Target | null): Wire {
  return {
    text: target?.text ?? null,
    media: (target?.media ?? []).map((item) => ({ url: item.url, type: mediaTypeOf(item) })),
    options: target?.options ?? {},
    target: { platform: operation.platform, account_id: operation.accountId, platform_post_id: target?.platformPostId ?? operation.result?.platform_post_id ?? null },
    digest: operation.requestDigest ?? null,
  };
}
