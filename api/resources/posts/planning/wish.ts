import type { Post } from '../../../../infra/db/entities/post.entity.ts';
import type { PostState } from '../../../../infra/db/repositories/events.ts';
import type { Call } from '../../../route.ts';
import type { PostWish } from './plan.ts';
import { storedOptions, storedText } from './render.ts';
import { inRange, orRefuse, readWallTime, scheduleOrRefuse, type Schedule } from './schedule.ts';
import { textOfContent } from './sources.ts';

type Body = Call['body'];

const NONE: ReadonlySet<string> = new Set();

/** What the body of a creation asks for. `content: ""` is a text; without one the template speaks. */
export function wishOfCreation(body: Body, schedule: Schedule): PostWish {
  const content = textIn(body.content);
  const variables: Record<string, string> = body.template_variables ?? {};
  return {
    selectors: body.targets,
    reached: NONE,
    standing: { targets: [], workspaceId: null },
    workspaceGiven: body.workspace_id ?? null,
    schedule,
    timezone: body.timezone ?? 'UTC',
    timezoneGiven: body.timezone ?? null,
    source: content === null && body.template_id ? null : textOfContent(content, variables),
    templateNamed: body.template_id ?? null,
    variables,
    signature: body.skip_signature === true ? null : 'default',
    autoKept: null,
    media: body.media ?? null,
    targetOptions: storedOptions(body.target_options ?? null),
    tagIds: body.tag_ids ?? [],
    shortenUrls: body.shorten_urls ?? false,
    allowDuplicate: body.allow_duplicate ?? false,
    postId: null,
  };
}

/** A draft or scheduled post with the members of a change laid over it. Nobody judges again what stays. */
export function wishOfChange(body: Body, { post, targets, accounts }: PostState, schedule: Schedule): PostWish {
  const given = <T>(name: string, value: T, stored: T): T => (name in body ? value : stored);
  const variables = given('template_variables', body.template_variables ?? {}, post.textSource.variables);
  const isTemplateNew = typeof body.template_id === 'string' && !('content' in body);
  const source = 'content' in body ? textOfContent(textIn(body.content), variables) : { ...post.textSource, variables };
  return {
    selectors: body.targets ?? null,
    reached: NONE,
    standing: { targets: targets.map((target) => ({ account: accounts.get(target.accountId)!, byId: target.byId })), workspaceId: post.workspaceId ?? null },
    workspaceGiven: post.workspaceGiven ? post.workspaceId ?? null : null,
    schedule,
    timezone: given('timezone', body.timezone ?? 'UTC', post.timezone),
    timezoneGiven: given('timezone', body.timezone ?? null, post.timezone === 'UTC' ? null : post.timezone),
    source: isTemplateNew ? null : source,
    templateNamed: typeof body.template_id === 'string' ? body.template_id : null,
    variables,
    signature: signatureOf(body, post),
    autoKept: schedule.at !== null && schedule.at.getTime() === post.scheduledAt?.getTime() ? post.autoSchedule ?? null : null,
    media: given('media', body.media ?? null, post.media ?? null),
    targetOptions: given('target_options', storedOptions(body.target_options ?? null), post.targetOptions ?? null),
    tagIds: body.tag_ids ?? [],
    shortenUrls: given('shorten_urls', body.shorten_urls ?? false, post.shortenUrls),
    allowDuplicate: body.allow_duplicate ?? false,
    postId: post.id,
  };
}

/**
 * The time as given, or the stored wall time in a new zone, or what is stored. A time that is stored is not judged again, in
 * whatever form it comes back; as the instant that the post shows it is still the wall time that it was.
 */
export function scheduleOfChange({ body, now }: Call, post: Post): Schedule {
  const timezone: string = 'timezone' in body ? body.timezone ?? 'UTC' : post.timezone;
  const stored = post.scheduledAt ?? null;
  const standing: Schedule = { kind: post.status === 'draft' ? 'draft' : 'later', at: stored, wallTime: post.wallTime ?? null, warnings: [] };
  if (typeof body.scheduled_at === 'string') {
    const given = scheduleOrRefuse(body.scheduled_at, { timezone, now, stored });
    const isShown = given.wallTime === null && given.at?.getTime() === stored?.getTime() && timezone === post.timezone;
    return isShown && given.kind === 'later' ? standing : given;
  }
  if (timezone === post.timezone || post.status !== 'scheduled' || !post.wallTime) return standing;
  return orRefuse(inRange(readWallTime(post.wallTime, timezone), { now, stored }), 'timezone');
}

/** A signature that is in the text stays the one it was; a draft takes the default of the moment it is rendered. */
function signatureOf(body: Body, post: Post): PostWish['signature'] {
  const skips = 'skip_signature' in body ? body.skip_signature === true : post.skipSignature;
  // Where none is wished and one is there, the text of a copy came with it.
  if (skips) return 'content' in body || 'skip_signature' in body ? null : post.signature ?? null;
  return post.status === 'draft' || 'skip_signature' in body ? 'default' : post.signature ?? null;
}

function textIn(content: unknown): string | null {
  return typeof content === 'string' ? storedText(content) : null;
}
