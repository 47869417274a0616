import { ApiError } from '../../../infra/contract/errors.ts';
import type { PublicCall, Reply } from '../../route.ts';
import { sandboxAway } from './ask.ts';

const SAMPLE_NAME = /^[a-z0-9-]{1,32}\.[a-z0-9]{3,4}$/;
const TIMEOUT_MS = 5_000;
const DAY_SECONDS = 86_400;

/** GET /sandbox/samples/{name}: a small real file of each kind, for first posts. The sandbox keeps them. */
export async function sample(call: PublicCall): Promise<Reply> {
  const name = call.params.name ?? '';
  if (!SAMPLE_NAME.test(name)) throw noSample();
  const response = await fetch(`${call.infra.config.sandbox.url}/samples/${name}`, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((cause: unknown) => {
    throw sandboxAway(cause);
  });
  if (response.status === 404) throw noSample();
  if (!response.ok) throw sandboxAway();
  const type = response.headers.get('content-type') ?? 'application/octet-stream';
  return { status: 200, file: { type, bytes: Buffer.from(await response.arrayBuffer()) }, headers: { 'Cache-Control': `public, max-age=${DAY_SECONDS}` } };
}

function noSample(): ApiError {
  return new ApiError('NOT_FOUND', 'There is no sample of this name: image.jpg, image-2.jpg, image.png, animation.gif, video.mp4, document.pdf and audio.mp3 are there.', { details: { resource: 'sample' } });
}
