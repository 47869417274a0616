import { altTextAt } from '../common/media-rules.ts';
import { isRecord, refused, unclear } from '../common/answers.ts';
import type { Answer, MediaFile, ProviderHttp, PublishWork, StepAnswer } from '../provider.ts';
import { authorized, mediaNumber } from './request.ts';
import { processingOf, readRefusal, type Processing } from './replies.ts';

/** At most 5 MB are documented for one segment. */
const SEGMENT_BYTES = 4 * 1_048_576;
/** The category of videos beyond 140 s is not confirmed; the platform has the last word. */
const CATEGORIES = { image: 'tweet_image', gif: 'tweet_gif', video: 'tweet_video', document: 'tweet_image' } as const;

/** initialize, append in segments, finalize. Nobody sees any of it, so a lost answer means to begin again. */
export async function upload(stepName: string, work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  const file = fileOf(stepName, work);
  const base = `${work.endpoints['api'] ?? ''}/2/media/upload`;
  const begun = await http.request(authorized(work, { method: 'POST', url: `${base}/initialize`, json: { media_type: file.mimeType, total_bytes: file.bytes, media_category: CATEGORIES[file.kind] } }));
  const media = mediaOf(begun);
  if (media === null) return failed(begun, work, 'data.id and data.media_key');
  for (let from = 0, segment = 0; from < file.bytes; from += SEGMENT_BYTES, segment++) {
    const content = await file.read(from, Math.min(from + SEGMENT_BYTES, file.bytes));
    const multipart = [{ name: 'segment_index', content: String(segment) }, { name: 'media', filename: 'media', contentType: 'application/octet-stream', content }];
    const appended = await http.request(authorized(work, { method: 'POST', url: `${base}/${media.id}/append`, multipart }));
    if (!isSuccess(appended)) return failed(appended, work, null);
  }
  const finalized = await http.request(authorized(work, { method: 'POST', url: `${base}/${media.id}/finalize` }));
  const done = mediaOf(finalized);
  if (done?.id !== media.id) return failed(finalized, work, 'data.id');
  const processing = processingOf(finalized.json.data);
  if (processing.state === 'failed') return refusedBy(finalized, processing);
  return { kind: 'done', checkpoint: { id: media.id, media_key: media.key, ready: processing.state === 'ready' }, providerId: media.id };
}

/** Asks only when finalize said that there is something to wait for. */
export async function ready(stepName: string, work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  const uploaded = uploadOf(stepName, work);
  if (uploaded['ready'] === true) return { kind: 'done', checkpoint: {}, providerId: null };
  const id = String(uploaded['id']);
  const answer = await http.request(authorized(work, { method: 'GET', url: `${work.endpoints['api'] ?? ''}/2/media/upload?command=STATUS&media_id=${id}` }));
  if (answer.status === 404) return { kind: 'redo', steps: [`media_upload_${mediaNumber(stepName)}`], error: { code: 'MEDIA_REJECTED', platformCode: '404', platformMessage: null }, answer };
  if (answer.status !== 200 || !isRecord(answer.json?.data)) return failed(answer, work, 'data');
  const processing = processingOf(answer.json.data);
  if (processing.state === 'failed') return refusedBy(answer, processing);
  if (processing.state === 'working') return { kind: 'wait', reason: 'processing', afterMs: processing.afterMs, answer };
  return { kind: 'done', checkpoint: {}, providerId: null };
}

export function needsMetadata(work: PublishWork, index: number): boolean {
  return work.options['sensitive_media_warning'] !== undefined || altOf(work, index) !== null;
}

export async function metadata(stepName: string, work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  const id = String(uploadOf(stepName, work)['id']);
  const alt = altOf(work, mediaNumber(stepName) - 1);
  const warning = work.options['sensitive_media_warning'];
  const json = { id, metadata: { ...(alt === null ? {} : { alt_text: { text: alt } }), ...(warning === undefined ? {} : { sensitive_media_warning: warning }) } };
  const answer = await http.request(authorized(work, { method: 'POST', url: `${work.endpoints['api'] ?? ''}/2/media/metadata`, json }));
  if (answer.status === 200 && answer.json?.data?.id === id) return { kind: 'done', checkpoint: {}, providerId: null };
  return failed(answer, work, '200 with data.id');
}

/** Videos take no alternative text. */
function altOf(work: PublishWork, index: number): string | null {
  const file = work.media[index];
  return file === undefined || file.kind === 'video' ? null : altTextAt(work.options, index, file.altText);
}

function fileOf(stepName: string, work: PublishWork): MediaFile {
  const file = work.media[mediaNumber(stepName) - 1];
  if (file === undefined) throw new Error(`${stepName} names no file`);
  return file;
}

function uploadOf(stepName: string, work: PublishWork): Readonly<Record<string, unknown>> {
  const checkpoint = work.checkpoints[`media_upload_${mediaNumber(stepName)}`];
  if (checkpoint === undefined) throw new Error(`${stepName} before its upload`);
  return checkpoint;
}

function mediaOf(answer: Answer): { id: string; key: string } | null {
  const data: unknown = answer.json?.data;
  if (!isSuccess(answer) || !isRecord(data)) return null;
  const { id, media_key: key } = data;
  return typeof id === 'string' && /^[0-9]+$/.test(id) && typeof key === 'string' ? { id, key } : null;
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

function failed(answer: Answer, work: PublishWork, proof: string | null): StepAnswer {
  return isSuccess(answer) ? unclear(answer, proof) : readRefusal(answer, { now: work.now, file: true });
}

function refusedBy(answer: Answer, { error }: Extract<Processing, { state: 'failed' }>): StepAnswer {
  return refused(answer, error.code, error);
}
