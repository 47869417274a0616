import type { Tx } from '../database.ts';
import { EventEntity, type Event } from '../entities/event.entity.ts';
import { EvidenceEntity, type Evidence } from '../entities/evidence.entity.ts';
import { OperationEntity, type Operation } from '../entities/operation.entity.ts';
import type { Step } from '../entities/step.entity.ts';
import { VerdictEntity, type Verdict } from '../entities/verdict.entity.ts';
import { stepsOf } from './operations.ts';
import { listPostTimeline, type PostTimelineRow } from './post-timeline.ts';

/** Everything that is kept about a post besides the post itself, oldest first; parts of operations by operation. */
export interface PostRecord {
  timeline: PostTimelineRow[];
  operations: Operation[];
  steps: ReadonlyMap<string, Step[]>;
  evidence: ReadonlyMap<string, Evidence[]>;
  verdicts: ReadonlyMap<string, Verdict[]>;
  /** Of the post and of its operations. */
  events: Event[];
}

export async function readPostRecord(tx: Tx, postId: string): Promise<PostRecord> {
  const operations = await tx.find(OperationEntity, { postId }, { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
  const ids = operations.map((one) => one.id);
  const ofOperations = { operationId: { $in: ids } };
  const evidence = await tx.find(EvidenceEntity, ofOperations, { orderBy: [{ observedAt: 'asc' }, { id: 'asc' }] });
  const verdicts = await tx.find(VerdictEntity, ofOperations, { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
  const events = await tx.find(EventEntity, { $or: [{ subjectType: 'post', subjectId: postId }, { subjectType: 'operation', subjectId: { $in: ids } }] }, { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
  return {
    timeline: await listPostTimeline(tx, postId, { sql: 'true', params: [], order: 'order by t.at, t.id' }),
    operations, events,
    steps: await stepsOf(tx, ids),
    evidence: Map.groupBy(evidence, (one) => one.operationId),
    verdicts: Map.groupBy(verdicts, (one) => one.operationId),
  };
}
