import { newId } from '../../contract/ids.ts';
import type { Tx } from '../database.ts';
import type { Actor } from '../entities/columns.ts';
import type { Operation } from '../entities/operation.entity.ts';
import type { Post } from '../entities/post.entity.ts';
import { add } from '../rows.ts';
import { TimelineEntryEntity, type TimelineEntry } from '../entities/timeline-entry.entity.ts';

export interface Note {
  type: string;
  message: string;
  at?: Date;
  step?: string | null;
  attempt?: number | null;
  evidenceId?: string | null;
  eventId?: string | null;
  verdictId?: string | null;
  targetId?: string | null;
  actor?: Actor | null;
  requestId?: string | null;
  data?: Record<string, unknown>;
}

/** Entries of an operation's timeline, in the order given. Written in the transaction of what they tell. */
export function noteOperation(tx: Tx, operation: Operation, notes: Note[], now: Date): void {
  for (const note of notes) persist(tx, operation, { postId: operation.postId ?? null, operationId: operation.id, targetId: operation.targetId ?? null }, note, now);
}

export function notePost(tx: Tx, post: Post, notes: Note[], now: Date): void {
  for (const note of notes) persist(tx, post, { postId: post.id, operationId: null, targetId: note.targetId ?? null }, note, now);
}

type Subject = Pick<TimelineEntry, 'postId' | 'operationId' | 'targetId'>;

function persist(tx: Tx, row: Post | Operation, subject: Subject, note: Note, now: Date): void {
  add(tx, TimelineEntryEntity, {
    id: newId('timeline'), organizationId: row.organizationId, mode: row.mode, at: note.at ?? now, type: note.type, ...subject,
    step: note.step ?? null, attempt: note.attempt ?? null, message: note.message.slice(0, 300),
    evidenceId: note.evidenceId ?? null, eventId: note.eventId ?? null, verdictId: note.verdictId ?? null,
    actor: note.actor ?? null, requestId: note.requestId ?? null, data: note.data ?? {},
  });
}
