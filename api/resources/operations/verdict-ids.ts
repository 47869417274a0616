import type { Issue } from '../../../infra/contract/errors.ts';
import type { Platform } from '../../../infra/contract/platforms.ts';
import { AccountEntity } from '../../../infra/db/entities/account.entity.ts';
import type { Operation } from '../../../infra/db/entities/operation.entity.ts';
import { stepsOf } from '../../../infra/db/repositories/operations.ts';
import { sandboxAdmin } from '../../../infra/sandbox-admin.ts';
import { readPostAddress, type PostAddress } from '../../../providers/catalog.ts';
import type { Call } from '../../route.ts';
import { validationError } from '../../validation/issues.ts';

/** What a verdict says was made. Paths of issues name the fields as the route calls them. */
export interface NamedObject {
  happened: boolean;
  platformPostId: string | null;
  url: string | null;
  fields: { id: string; url: string };
}

/** Platforms that may publish without giving an id. */
const IDLESS: readonly Platform[] = ['tiktok', 'snapchat', 'whatsapp', 'sms'];
const PAGE_ID = /^[0-9a-f]{32}$/;

/** Holds what was given against what the operation's kind asks for, and returns it with the id read out of the address. */
export async function readNamedObject(call: Call, operation: Operation, given: NamedObject): Promise<{ platformPostId: string | null; url: string | null }> {
  const { fields } = given;
  if (!given.happened) return nothing(given);
  const isReport = operation.kind === 'ad_report';
  if (isReport && given.url !== null) refuse(fields.url, 'custom', `${fields.url} must be left out for an ad report`);
  if (isReport && given.platformPostId === null) refuse(fields.id, 'required', `${fields.id} is required: the job id of the network`);
  const read = given.url === null ? null : await readAddress(call, operation, given.url, fields.url);
  const { platformPostId } = given;
  if (platformPostId !== null && read !== null && read.postId !== null && read.postId !== platformPostId) {
    refuse(fields.id, 'custom', `${fields.id} and ${fields.url} name two different posts`);
  }
  const id = platformPostId ?? read?.postId ?? null;
  const known = isMaking(operation) ? await knownId(call, operation) : null;
  if (known !== null && id !== null && id !== known) refuse(fields.id, 'custom', `${fields.id} differs from the id that the platform gave to this operation, ${known}`);
  if (isMaking(operation) && known === null && id === null && !IDLESS.includes(operation.platform)) {
    refuse(fields.id, 'required', given.url === null ? `${fields.id} or ${fields.url} is required: say which post on the platform it is` : `${fields.id} is required: it cannot be read out of this address`);
  }
  return { platformPostId: id ?? known, url: given.url };
}

function nothing({ platformPostId, url, fields }: NamedObject): { platformPostId: null; url: null } {
  if (platformPostId !== null) refuse(fields.id, 'custom', `${fields.id} must be left out when nothing was published`);
  if (url !== null) refuse(fields.url, 'custom', `${fields.url} must be left out when nothing was published`);
  return { platformPostId: null, url: null };
}

/** Whether success of this operation is an object of its own on the platform. */
function isMaking({ kind, action }: Operation): boolean {
  switch (kind) {
    case 'publish': return true;
    case 'cross_post': return action === 'comment' || action === 'quote';
    case 'social_action': return action === 'reply' || action === 'comment' || action === 'private_reply';
    default: return false;
  }
}

/** A draft, campaign, video or upload that becomes the post has its id before the outcome is known. */
async function knownId(call: Call, operation: Operation): Promise<string | null> {
  const steps = (await stepsOf(call.tx, [operation.id])).get(operation.id) ?? [];
  return steps.find((step) => step.state === 'unknown')?.providerId ?? null;
}

async function readAddress(call: Call, operation: Operation, url: string, field: string): Promise<PostAddress> {
  const account = await call.tx.findOneOrFail(AccountEntity, { id: operation.accountId });
  const { sandbox, baseUrl } = call.infra.config;
  const isSandbox = operation.mode === 'test';
  const read = readPostAddress(url, { platform: operation.platform, isSandbox, metadata: account.metadata }, { url: sandbox.url, baseUrl });
  if (!read.isPlatform) {
    refuse(field, 'invalid_value', isSandbox ? `${field} must be an address of the sandbox, ${baseUrl}/sandbox/p/${operation.platform}/…` : `${field} must be an https address of the post on ${operation.platform}`);
  }
  const pageId = isSandbox ? pageIdOf(url, operation.platform) : null;
  if (pageId === null) return read;
  const page = await sandboxAdmin(call.infra).read<{ object_id: string }>(`/pages/${operation.platform}/${pageId}`);
  return { ...read, postId: page?.object_id ?? null };
}

/** The sandbox's public pages have ids of their own, which do not show the object's. */
function pageIdOf(url: string, platform: Platform): string | null {
  const [, found] = new RegExp(`/sandbox/p/${platform}/([^/]+)/?$`).exec(new URL(url).pathname) ?? [];
  return found !== undefined && PAGE_ID.test(found) ? found : null;
}

function refuse(field: string, code: Issue['code'], message: string): never {
  throw validationError([{ code, message, path: [field], in: 'body' }]);
}
