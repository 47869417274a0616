import { newId } from '../../../infra/contract/ids.ts';
import type { Post } from '../../../infra/db/entities/post.entity.ts';
import { TargetEntity, type Target } from '../../../infra/db/entities/target.entity.ts';
import { add } from '../../../infra/db/rows.ts';
import type { Call } from '../../route.ts';
import type { PlannedTarget } from './planning/planned-targets.ts';

/** A draft is rendered when it becomes scheduled or publishing, not before. */
export function newTarget(call: Call, post: Post, of: { planned: PlannedTarget; position: number; isDraft: boolean; status: 'draft' | 'scheduled' }): Target {
  const { planned, position, isDraft, status } = of;
  return add(call.tx, TargetEntity, {
    id: newId('target'), organizationId: post.organizationId, mode: post.mode, postId: post.id, accountId: planned.account.id, platform: planned.account.platform,
    byId: planned.byId, position, status, attempt: 0, text: isDraft ? null : planned.text, options: isDraft ? {} : { ...planned.options }, media: isDraft ? [] : planned.media,
    fingerprint: planned.fingerprint,
    warnings: [], createdAt: call.now, updatedAt: call.now,
  });
}
