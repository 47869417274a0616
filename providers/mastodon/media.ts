import { altTextAt } from '../common/media-rules.ts';
import { isRecord, refused, unclear } from '../common/answers.ts';
import type { Answer, MultipartPart, ProviderHttp, PublishWork, StepAnswer } from '../provider.ts';
import { complaintOf, processingCode, readRefusal } from './replies.ts';
import { onInstance } from './request.ts';

/** POST /api/v2/media: 200 = ready, 202 = still at work. Unattached files are purged by the instance. */
export async function upload(n: number, work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  const file = work.media[n - 1];
  if (file === undefined) throw new Error(`media_${n} names no file`);
  const multipart: MultipartPart[] = [{ name: 'file', filename: `media-${n}.${extensionOf(file.mimeType)}`, contentType: file.mimeType, content: file }];
  const description = altTextAt(work.options, n - 1, file.altText);
  if (description !== null) multipart.push({ name: 'description', content: description });
  const focus: unknown = work.options['focal_points']?.[n - 1];
  if (isRecord(focus)) multipart.push({ name: 'focus', content: `${focus['x']},${focus['y']}` });
  const answer = await http.request(onInstance(work, '/api/v2/media', { method: 'POST', multipart }));
  const id: unknown = answer.json?.id;
  if ((answer.status === 200 || answer.status === 202) && typeof id === 'string' && id !== '') {
    return { kind: 'done', checkpoint: { id, ready: answer.status === 200 }, providerId: id };
  }
  return isSuccess(answer) ? unclear(answer, '200 or 202 with id') : readRefusal(answer, { now: work.now, file: true });
}

/** GET /api/v1/media/{id}: 200 = ready, 206 = still at work, 422 = failed. Asks only when the upload was not ready at once. */
export async function ready(n: number, work: PublishWork, http: ProviderHttp): Promise<StepAnswer> {
  const uploaded = work.checkpoints[`media_${n}`];
  if (uploaded === undefined) throw new Error(`media_${n}_ready before its upload`);
  if (uploaded['ready'] === true) return { kind: 'done', checkpoint: {}, providerId: null };
  const answer = await http.request(onInstance(work, `/api/v1/media/${encodeURIComponent(String(uploaded['id']))}`));
  if (answer.status === 200 && answer.json?.id === uploaded['id']) return { kind: 'done', checkpoint: {}, providerId: null };
  if (answer.status === 206) return { kind: 'wait', reason: 'processing', afterMs: null, answer };
  const complaint = complaintOf(answer);
  if (answer.status === 404 && complaint !== null) return { kind: 'redo', steps: [`media_${n}`], error: { code: 'MEDIA_PROCESSING_FAILED', platformCode: '404', platformMessage: complaint }, answer };
  if (answer.status === 422 && complaint !== null) return refused(answer, processingCode(complaint), { platformCode: '422', platformMessage: complaint });
  return isSuccess(answer) ? unclear(answer, '200 with id') : readRefusal(answer, { now: work.now });
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** Some servers go by the name of the file. */
function extensionOf(mimeType: string): string {
  const part = mimeType.split('/')[1] ?? 'bin';
  const names: Record<string, string> = { jpeg: 'jpg', quicktime: 'mov', mpeg: 'mp3', 'x-wav': 'wav', 'x-m4a': 'm4a' };
  return names[part] ?? part.replace(/[^a-z0-9]/gi, '');
}
