import { bearer } from '../bearer.ts';
import type { PlayedPlatform, Route } from '../platform.ts';
import { GENUINE, INSTANCE as NUMBERS, instanceV1, instanceV2 } from './instance.ts';
import { changeMedia, readMedia, removeMedia, uploadMedia } from './media.ts';
import { accountStatuses, lookUpAccount, readSource, readStatusById, search, verifyCredentials } from './reading.ts';
import { allowanceHeaders, replies } from './replies.ts';
import { createStatus, deleteStatus } from './statuses.ts';

const ANY = { name: 'any', limit: 300, windowSeconds: 300 };
const POSTS = { name: 'posts', limit: 300, windowSeconds: 10_800 };
const UPLOADS = { name: 'uploads', limit: 30, windowSeconds: 1_800 };
const DELETIONS = { name: 'deletions', limit: 30, windowSeconds: 1_800 };

const INSTANCE: readonly Route[] = [
  { method: 'POST', path: '/api/v1/statuses', effect: 'public', deciding: true, bucket: POSTS, handle: createStatus },
  { method: 'GET', path: '/api/v1/statuses/:id', effect: 'read', reconciles: true, bucket: ANY, handle: readStatusById },
  { method: 'GET', path: '/api/v1/statuses/:id/source', effect: 'read', reconciles: true, bucket: ANY, handle: readSource },
  { method: 'DELETE', path: '/api/v1/statuses/:id', effect: 'public', bucket: DELETIONS, handle: deleteStatus },
  { method: 'GET', path: '/api/v2/instance', effect: 'read', anonymous: true, bucket: ANY, handle: instanceV2 },
  { method: 'GET', path: '/api/v1/instance', effect: 'read', anonymous: true, bucket: ANY, handle: instanceV1 },
  { method: 'POST', path: '/api/v2/media', effect: 'private', bucket: UPLOADS, handle: uploadMedia },
  { method: 'GET', path: '/api/v1/media/:id', effect: 'read', bucket: ANY, handle: readMedia },
  { method: 'PUT', path: '/api/v1/media/:id', effect: 'private', bucket: ANY, handle: changeMedia },
  { method: 'DELETE', path: '/api/v1/media/:id', effect: 'private', bucket: ANY, handle: removeMedia },
  { method: 'GET', path: '/api/v1/accounts/verify_credentials', effect: 'read', bucket: ANY, handle: verifyCredentials },
  { method: 'GET', path: '/api/v1/accounts/:id/statuses', effect: 'read', reconciles: true, bucket: ANY, handle: accountStatuses },
  { method: 'GET', path: '/api/v1/accounts/:id', effect: 'read', bucket: ANY, handle: lookUpAccount },
  { method: 'GET', path: '/api/v2/search', effect: 'read', reconciles: true, bucket: ANY, handle: search },
];

/** A Mastodon 4.5 instance. */
export const mastodon: PlayedPlatform = {
  name: 'mastodon',
  hosts: { instance: INSTANCE },
  replies,
  credential: bearer,
  allowanceHeaders,
  answersWithUrl: true,
  connected: (url) => ({
    metadata: { instance_url: `${url}/mastodon/instance`, server_version: GENUINE, max_characters: NUMBERS.maxCharacters, idempotency: true },
    scopes: ['read', 'write'], refreshable: false,
  }),
  accessTokenSeconds: null,
  connection: {
    scopes: ['read', 'write'],
    metadata: (address) => ({ instance_url: `${address}/instance`, server_version: '4.5.0', max_characters: 500, idempotency: true }),
  },
};
