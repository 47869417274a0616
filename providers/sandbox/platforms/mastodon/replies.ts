import { json, withHeaders, type Reply } from '../../reply.ts';
import type { Allowance, Bucket } from '../../limits.ts';
import type { Refusal } from '../../words.ts';
import type { PlatformReplies } from '../platform.ts';

const DAY_SECONDS = 86_400;

export const error = (status: number, message: string): Reply => json(status, { error: message });
export const invalid = (message: string): Reply => error(422, `Validation failed: ${message}`);
export const notFound = (): Reply => error(404, 'Record not found');

export const textTooLong = (limit: number): Reply => invalid(`Text character limit of ${limit} exceeded`);
export const tooManyFiles = (): Reply => error(422, 'Cannot attach more than 4 files');
export const imagesAndVideo = (): Reply => error(422, 'Cannot attach a video to a post that already contains images');
export const notProcessed = (): Reply => error(422, 'Cannot attach files that have not finished processing. Try again in a moment!');
export const processingError = (): Reply => error(422, 'Error processing thumbnail for uploaded media');
export const unattachable = (ids: readonly string[]): Reply => error(422, `Media ${ids.join(', ')} not found or already attached to another post`);

function unauthorized(message: string, code: string): Reply {
  return withHeaders(error(401, message), { 'www-authenticate': `Bearer realm="Doorkeeper", error="${code}", error_description="${message}"` });
}

/** The reset is a time with six digits after the second, as Rails prints it. */
export function allowanceHeaders(allowance: Allowance): Record<string, string> {
  return {
    'x-ratelimit-limit': String(allowance.limit), 'x-ratelimit-remaining': String(allowance.remaining),
    'x-ratelimit-reset': allowance.resetAt.toISOString().replace('Z', '000Z'),
  };
}

function rateLimited(bucket: Bucket, waitSeconds: number): Reply {
  const allowance = { limit: bucket.limit, remaining: 0, resetAt: new Date(Date.now() + waitSeconds * 1_000) };
  return withHeaders(error(429, 'Too many requests'), allowanceHeaders(allowance));
}

const REFUSALS: Readonly<Record<Refusal, (bucket: Bucket) => Reply>> = {
  content: () => invalid('Text is not allowed on this server'),
  'too-long': () => textTooLong(500),
  media: imagesAndVideo,
  permission: () => error(403, 'This action is outside the authorized scopes'),
  quota: (bucket) => rateLimited(bucket, DAY_SECONDS),
  restricted: () => error(403, 'Your login is currently disabled'),
  gone: notFound,
  other: () => error(403, 'This action is not allowed'),
};

export const replies: PlatformReplies = {
  unauthorized: () => unauthorized('The access token is invalid', 'invalid_token'),
  expired: () => unauthorized('The access token expired', 'invalid_token'),
  revoked: () => unauthorized('The access token was revoked', 'invalid_token'),
  scopesMissing: () => error(403, 'This action is outside the authorized scopes'),
  suspended: () => error(403, 'Your login is currently disabled'),
  rateLimited,
  unavailable: () => error(503, 'There was a temporary problem serving your request, please try again'),
  notFound: () => error(404, 'Record not found'),
  tooLarge: () => error(413, 'Payload Too Large'),
  refuse: (refusal, call) => REFUSALS[refusal](call.route.bucket),
  duplicate: () => REFUSALS.content({ name: '', limit: 0, windowSeconds: 0 }),
};
