import { json, withHeaders, type Reply } from '../../reply.ts';
import type { Allowance, Bucket } from '../../limits.ts';
import type { Refusal } from '../../words.ts';
import type { PlatformReplies } from '../platform.ts';

/** Problem bodies of the X API v2. */
const PROBLEMS = 'https://api.twitter.com/2/problems';

export function problem(status: number, title: string, detail: string, more: Record<string, unknown> = {}): Reply {
  return json(status, { title, detail, type: 'about:blank', status, ...more });
}

/** 400 with the list of what is wrong, as the validation of the platform gives it. */
export function invalidRequest(message: string, parameters: Record<string, string[]> = {}): Reply {
  return json(400, {
    errors: [{ parameters, message }], title: 'Invalid Request', detail: 'One or more parameters to your request was invalid.', type: `${PROBLEMS}/invalid-request`,
  });
}

export function resourceNotFound(resource: 'tweet' | 'user', parameter: string, value: string): Record<string, unknown> {
  return {
    value, detail: `Could not find ${resource} with ${parameter}: [${value}].`, title: 'Not Found Error', resource_type: resource, parameter, resource_id: value,
    type: `${PROBLEMS}/resource-not-found`,
  };
}

export function notFoundReply(resource: 'tweet' | 'user', parameter: string, value: string): Reply {
  const error = resourceNotFound(resource, parameter, value);
  return json(404, { errors: [error], title: 'Not Found Error', detail: error.detail, type: error.type, status: 404 });
}

export const textTooLong = (): Reply => invalidRequest(
  'Your Tweet text is too long. For more information on how Twitter determines text length see https://github.com/twitter/twitter-text.',
);
export const mediaInvalid = (ids: readonly string[]): Reply => invalidRequest('Your media IDs are invalid.', { 'media.media_ids': [`[${ids.join(', ')}]`] });

const suspended = (code: number, message: string): Reply => problem(403, 'Forbidden', message, { errors: [{ code, message }] });
const forbiddenClient = (detail: string, reason: string): Reply => problem(403, 'Client Forbidden', detail, { reason, type: `${PROBLEMS}/client-forbidden` });

export function allowanceHeaders(allowance: Allowance): Record<string, string> {
  return {
    'x-rate-limit-limit': String(allowance.limit), 'x-rate-limit-remaining': String(allowance.remaining),
    'x-rate-limit-reset': String(Math.ceil(allowance.resetAt.getTime() / 1_000)),
  };
}

function rateLimited(bucket: Bucket, waitSeconds: number): Reply {
  const allowance = { limit: bucket.limit, remaining: 0, resetAt: new Date(Date.now() + waitSeconds * 1_000) };
  return withHeaders(problem(429, 'Too Many Requests', 'Too Many Requests'), allowanceHeaders(allowance));
}

const REFUSALS: Readonly<Record<Refusal, () => Reply>> = {
  content: () => problem(403, 'Forbidden', "This request looks like it might be automated. To protect our users from spam and other malicious activity, we can't complete this action right now. Please try again later."),
  'too-long': textTooLong,
  media: () => mediaInvalid([]),
  permission: () => forbiddenClient('Your client app is not enrolled in the access level that this endpoint requires.', 'client-not-enrolled'),
  quota: () => json(429, {
    title: 'UsageCapExceeded', detail: 'Usage cap exceeded: Monthly product cap', period: 'Monthly', scope: 'Product', type: `${PROBLEMS}/usage-capped`, status: 429,
  }),
  restricted: () => suspended(326, 'To protect our users from spam and other malicious activity, this account is temporarily locked. Please log in to https://twitter.com to unlock your account.'),
  gone: () => notFoundReply('tweet', 'reply.in_reply_to_tweet_id', '0'),
  other: () => invalidRequest('The request could not be processed.'),
};

export const replies: PlatformReplies = {
  unauthorized: () => problem(401, 'Unauthorized', 'Unauthorized'),
  expired: () => problem(401, 'Unauthorized', 'Unauthorized'),
  revoked: () => problem(401, 'Unauthorized', 'Unauthorized'),
  scopesMissing: () => forbiddenClient('Your client app is not configured with the appropriate oauth2 scopes for this endpoint.', 'missing-scopes'),
  suspended: () => suspended(64, 'Your account is suspended and is not permitted to access this feature.'),
  rateLimited,
  unavailable: () => problem(503, 'Service Unavailable', 'Service Unavailable'),
  notFound: () => problem(404, 'Not Found', 'Not Found'),
  tooLarge: () => problem(413, 'Payload Too Large', 'The request entity is too large.'),
  refuse: (refusal) => REFUSALS[refusal](),
  duplicate: () => problem(403, 'Forbidden', 'You are not allowed to create a Tweet with duplicate content.'),
};
