import type { PlayedPlatform, Route } from '../platform.ts';
import { bearer } from '../bearer.ts';
import { appendSegment, describeMedia, finalizeUpload, initializeUpload, uploadAtOnce, uploadStatus } from './media.ts';
import { allowanceHeaders, replies } from './replies.ts';
import { lookUpTweets, lookUpUser, statusPage, userTimeline } from './timeline.ts';
import { ACCESS_TOKEN_SECONDS, refreshToken, SCOPES } from './token.ts';
import { createTweet, deleteTweet } from './tweets.ts';

const QUARTER = 900;
const bucket = (name: string, limit: number): Route['bucket'] => ({ name, limit, windowSeconds: QUARTER });
const MEDIA = bucket('media', 1_875);

const API: readonly Route[] = [
  { method: 'POST', path: '/2/tweets', effect: 'public', deciding: true, bucket: bucket('tweets', 100), handle: createTweet },
  { method: 'DELETE', path: '/2/tweets/:id', effect: 'public', bucket: bucket('delete', 50), handle: deleteTweet },
  { method: 'GET', path: '/2/users/:id/tweets', effect: 'read', reconciles: true, bucket: bucket('timeline', 900), handle: userTimeline },
  { method: 'GET', path: '/2/tweets', effect: 'read', reconciles: true, bucket: bucket('lookup', 900), handle: lookUpTweets },
  { method: 'GET', path: '/2/tweets/:id', effect: 'read', reconciles: true, bucket: bucket('lookup', 900), handle: lookUpTweets },
  { method: 'GET', path: '/2/users/me', effect: 'read', bucket: bucket('me', 75), handle: lookUpUser },
  { method: 'GET', path: '/2/users/:id', effect: 'read', bucket: bucket('users', 900), handle: lookUpUser },
  { method: 'POST', path: '/2/media/upload/initialize', effect: 'private', bucket: MEDIA, handle: initializeUpload },
  { method: 'POST', path: '/2/media/upload/:id/append', effect: 'private', bucket: MEDIA, handle: appendSegment },
  { method: 'POST', path: '/2/media/upload/:id/finalize', effect: 'private', bucket: MEDIA, handle: finalizeUpload },
  { method: 'GET', path: '/2/media/upload', effect: 'read', bucket: bucket('media status', 1_000), handle: uploadStatus },
  { method: 'POST', path: '/2/media/upload', effect: 'private', bucket: MEDIA, handle: uploadAtOnce },
  { method: 'POST', path: '/2/media/metadata', effect: 'private', bucket: bucket('metadata', 500), handle: describeMedia },
  { method: 'POST', path: '/2/oauth2/token', effect: 'private', anonymous: true, bucket: bucket('token', 1_000), handle: refreshToken },
];

const WEB: readonly Route[] = [
  { method: 'GET', path: '/:username/status/:id', effect: 'read', anonymous: true, bucket: bucket('web', 1_000), handle: statusPage },
];

/** The X API v2. */
export const twitter: PlayedPlatform = {
  name: 'twitter',
  hosts: { api: API, oauth: WEB },
  replies,
  credential: bearer,
  allowanceHeaders,
  answersWithUrl: false,
  connected: () => ({ metadata: { verified_type: null, long_posts: false }, scopes: SCOPES, refreshable: true }),
  accessTokenSeconds: ACCESS_TOKEN_SECONDS,
  connection: {
    scopes: ['tweet.read', 'tweet.write', 'users.read', 'media.write', 'offline.access'],
    metadata: () => ({ verified_type: null, long_posts: false }),
  },
};
