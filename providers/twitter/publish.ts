import { finalText } from '../common/text.ts';
import { pageUrl } from '../common/pages.ts';
import type { PlannedStep, ProviderHttp, PublishWork, StepAnswer } from '../provider.ts';
import { metadata, needsMetadata, ready, upload } from './media.ts';
import { readPublished } from './replies.ts';
import { authorized } from './request.ts';

/** The platform names 24 h for unused media; an hour of it is kept in reserve. */
const MEDIA_LIFETIME_MS = 23 * 3_600_000;
const PROCESSING = { afterMs: [1_000, 2_000, 5_000, 10_000], withinMs: 30 * 60_000 };

export function plan(work: PublishWork): PlannedStep[] {
  const steps: PlannedStep[] = [];
  for (const index of work.media.keys()) {
    const n = index + 1;
    steps.push({ name: `media_upload_${n}`, effect: 'private', required: true, lifetimeMs: MEDIA_LIFETIME_MS });
    steps.push({ name: `media_ready_${n}`, effect: 'read', required: true, lifetimeMs: MEDIA_LIFETIME_MS, poll: PROCESSING });
    if (needsMetadata(work, index)) steps.push({ name: `media_metadata_${n}`, effect: 'private', required: true, lifetimeMs: MEDIA_LIFETIME_MS });
  }
  steps.push({ name: 'publish', effect: 'public_unkeyed', required: true });
  return steps;
}

export function send(step: PlannedStep, work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  if (step.name.startsWith('media_upload_')) return upload(step.name, work, http);
  if (step.name.startsWith('media_ready_')) return ready(step.name, work, http);
  if (step.name.startsWith('media_metadata_')) return metadata(step.name, work, http);
  return publish(work, http);
}

async function publish(work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  const answer = await http.request(authorized(work, { method: 'POST', url: `${work.endpoints['api'] ?? ''}/2/tweets`, json: postBody(work) }));
  const uploads = work.media.map((_file, index) => `media_upload_${index + 1}`);
  const read = readPublished(answer, { now: work.now, uploads });
  if ('kind' in read) return read;
  return { kind: 'done', checkpoint: { id: read.id }, providerId: read.id, proof: { platformPostId: read.id, url: pageUrl(work.endpoints, read.id, work.account.username) } };
}

/** Only members that were asked for: the platform refuses unknown ones and its own defaults hold for the rest. */
export function postBody({ text, options, media, checkpoints }: PublishWork): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const content = finalText(text);
  if (content !== '') body['text'] = content;
  if (media.length > 0) {
    body['media'] = { media_ids: media.map((_file, index) => checkpoints[`media_upload_${index + 1}`]?.['id']), ...given('tagged_user_ids', options['tagged_user_ids']) };
  }
  if (options['reply_to'] !== undefined) body['reply'] = { in_reply_to_tweet_id: options['reply_to'], ...given('exclude_reply_user_ids', options['exclude_reply_user_ids']) };
  if (options['reply_settings'] !== undefined && options['reply_settings'] !== 'everyone') body['reply_settings'] = options['reply_settings'];
  if (options['place_id'] !== undefined) body['geo'] = { place_id: options['place_id'] };
  for (const name of ['poll', 'quote_tweet_id', 'community_id'] as const) Object.assign(body, given(name, options[name]));
  for (const name of ['share_with_followers', 'made_with_ai', 'paid_partnership', 'for_super_followers_only'] as const) if (options[name] === true) body[name] = true;
  return body;
}

function given(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}
