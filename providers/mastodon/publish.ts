import { isRecord, refused, unclear } from '../common/answers.ts';
import { finalText } from '../common/text.ts';
import type { Answer, PlannedStep, ProviderHttp, PublishWork, StepAnswer } from '../provider.ts';
import { factsOf, knownFacts } from './facts.ts';
import { ready, upload } from './media.ts';
import { readPublished, readRefusal } from './replies.ts';
import { onInstance } from './request.ts';

const FACTS_MAX_AGE_MS = 24 * 3_600_000;
/** Instances purge unattached files after a day. */
const MEDIA_LIFETIME_MS = 20 * 3_600_000;
/** Servers remember a key for an hour; ten minutes of it are kept in reserve. */
const KEY_WINDOW_MS = 50 * 60_000;
const PROCESSING = { afterMs: [1_000, 2_000, 5_000, 10_000], withinMs: 30 * 60_000 };
const REFERENCES = { in_reply_to: 'in_reply_to_id', quoted: 'quoted_status_id' } as const;
type Reference = keyof typeof REFERENCES;

export function plan(work: PublishWork): PlannedStep[] {
  const steps: PlannedStep[] = [];
  if (needsFacts(work)) steps.push({ name: 'instance', effect: 'read', required: true, lifetimeMs: FACTS_MAX_AGE_MS });
  for (const [name, option] of Object.entries(REFERENCES)) {
    if (isAddress(work.options[option])) steps.push({ name, effect: 'read', required: true });
  }
  for (const index of work.media.keys()) {
    steps.push({ name: `media_${index + 1}`, effect: 'private', required: true, lifetimeMs: MEDIA_LIFETIME_MS });
    steps.push({ name: `media_${index + 1}_ready`, effect: 'read', required: true, lifetimeMs: MEDIA_LIFETIME_MS, poll: PROCESSING });
  }
  steps.push(publishStep(work));
  return steps;
}

function publishStep(work: PublishWork): PlannedStep {
  const base = { name: 'publish', required: true, poll: PROCESSING };
  if (!honoursKeys(work)) return { ...base, effect: 'public_unkeyed' };
  return { ...base, effect: 'public_keyed', key: { value: work.operationId, windowMs: KEY_WINDOW_MS } };
}

function needsFacts({ account, now, checkpoints }: PublishWork): boolean {
  return checkpoints['instance'] !== undefined || account.factsAt === null || now.getTime() - account.factsAt.getTime() > FACTS_MAX_AGE_MS;
}

/** What this very operation read counts before what is stored. */
export function honoursKeys({ account, checkpoints }: PublishWork): boolean {
  return (checkpoints['instance']?.['idempotency'] ?? knownFacts(account)['idempotency']) === true;
}

export async function send(step: PlannedStep, work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  const media = /^media_(\d+)(_ready)?$/.exec(step.name);
  if (media !== null) return (media[2] === undefined ? upload : ready)(Number(media[1]), work, http);
  if (step.name === 'instance') return readInstance(work, http);
  if (step.name in REFERENCES) return lookUp(step.name as Reference, work, http);
  return publish(step, work, http);
}

async function readInstance(work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  const answer = await askInstance(work, http);
  const facts = answer.status === 200 ? factsOf(answer.json) : null;
  if (facts !== null) return { kind: 'done', checkpoint: { version: facts.version, idempotency: facts.idempotency }, providerId: null, facts };
  return answer.status === 200 ? unclear(answer, 'version') : readRefusal(answer, { now: work.now });
}

/** Servers that lack the second version of this read have the first. */
async function askInstance(work: PublishWork, http: ProviderHttp): Promise<Answer> {
  const answer = await http.request(onInstance(work, '/api/v2/instance'));
  return answer.status === 404 ? http.request(onInstance(work, '/api/v1/instance')) : answer;
}

export async function stillKeyed(work: PublishWork, http: ProviderHttp): Promise<boolean> {
  const answer = await askInstance(work, http);
  return answer.status === 200 && factsOf(answer.json)?.idempotency === true;
}

/** The instance turns the address of a status into its own id for it. */
async function lookUp(reference: Reference, work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  const url = String(work.options[REFERENCES[reference]]);
  const answer = await http.request(onInstance(work, `/api/v2/search?q=${encodeURIComponent(url)}&resolve=true&type=statuses&limit=1`));
  const statuses: unknown = answer.json?.statuses;
  if (answer.status !== 200 || !Array.isArray(statuses)) return answer.status === 200 ? unclear(answer, 'statuses') : readRefusal(answer, { now: work.now, refersTo: true });
  const id: unknown = isRecord(statuses[0]) ? statuses[0]['id'] : undefined;
  if (typeof id !== 'string') return refused(answer, 'OBJECT_NOT_FOUND', { platformMessage: 'The instance does not know this status.' });
  return { kind: 'done', checkpoint: { id }, providerId: id };
}

async function publish(step: PlannedStep, work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  // The key goes along even where nothing is known to honour it; the plan, not the header, says what it is worth.
  const headers = { 'idempotency-key': step.key?.value ?? work.operationId };
  const answer = await http.request(onInstance(work, '/api/v1/statuses', { method: 'POST', headers, json: statusBody(work) }));
  const uploads = work.media.map((_file, index) => `media_${index + 1}`);
  const refersTo = Object.keys(REFERENCES).some((reference) => referenceId(reference as Reference, work) !== null);
  const read = readPublished(answer, { now: work.now, uploads, refersTo });
  if ('kind' in read) return read;
  return { kind: 'done', checkpoint: { id: read.id, url: read.url }, providerId: read.id, proof: { platformPostId: read.id, url: read.url } };
}

/** Never `scheduled_at`: keys do not cover scheduled statuses. */
export function statusBody(work: PublishWork): Record<string, unknown> {
  const { text, options, media, checkpoints } = work;
  const body: Record<string, unknown> = { status: finalText(text), visibility: options['visibility'], sensitive: options['sensitive'] };
  for (const name of ['spoiler_text', 'language', 'quote_approval_policy', 'poll']) if (options[name] !== undefined) body[name] = options[name];
  if (media.length > 0) body['media_ids'] = media.map((_file, index) => checkpoints[`media_${index + 1}`]?.['id']);
  for (const reference of Object.keys(REFERENCES) as Reference[]) {
    const id = referenceId(reference, work);
    if (id !== null) body[REFERENCES[reference]] = id;
  }
  return body;
}

/** The id on this instance, resolved where an address was given. */
export function referenceId(reference: Reference, { options, checkpoints }: PublishWork): string | null {
  const given: unknown = options[REFERENCES[reference]];
  if (typeof given !== 'string') return null;
  const id = isAddress(given) ? checkpoints[reference]?.['id'] : given;
  return typeof id === 'string' ? id : null;
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//.test(value);
}
