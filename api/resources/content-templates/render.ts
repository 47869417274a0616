import { ApiError } from '../../../infra/contract/errors.ts';
import type { Platform } from '../../../infra/contract/platforms.ts';
import { AccountEntity, type Account } from '../../../infra/db/entities/account.entity.ts';
import type { ContentTemplate } from '../../../infra/db/entities/content-template.entity.ts';
import { findApplicableSignature } from '../../../infra/db/repositories/signatures.ts';
import { platformCatalog } from '../../../providers/catalog.ts';
import type { Call, Reply } from '../../route.ts';
import { assertWorkspaceAccess, onlyWorkspace } from '../../workspace-access.ts';
import { accountName } from '../posts/planning/texts.ts';
import { dayIn } from '../../time-zone.ts';
import { withSignature } from '../signatures/apply-signature.ts';
import { readableTemplate } from './access.ts';
import { refuseOverlong } from './expanded-length.ts';
import { expandVariables } from './variables.ts';

/** POST /v1/content-templates/{id}/render: the text as a post would get it, with nothing stored. */
export async function renderTemplate(call: Call): Promise<Reply> {
  const { tx, body } = call;
  const template = await readableTemplate(call);
  const account = body.account_id === undefined ? null : await readAccount(call, body.account_id);
  refuseMismatch(template, account, body.platform);
  const platform: Platform | null = account?.platform ?? body.platform ?? null;
  const source = (platform === null ? undefined : template.platformOverrides?.[platform]) ?? template.content;
  const { text, used, missing } = expandVariables(source, valuesOf(call, account));
  refuseOverlong(text, 'variables');
  const signature = body.skip_signature === true ? null : await findApplicableSignature(tx, account?.workspaceId ?? template.workspaceId ?? onlyWorkspace(call.caller));
  const content = withSignature(text, signature);
  return {
    status: 200,
    body: { content, platform, used, missing, length: lengthOf(content, platform, account) },
    workspaceIds: [template.workspaceId, account?.workspaceId].flatMap((id) => id ?? []),
  };
}

async function readAccount({ tx, caller }: Call, id: string): Promise<Account> {
  const account = await tx.findOne(AccountEntity, { id });
  if (account === null) throw new ApiError('ACCOUNT_NOT_FOUND', 'There is no such account. List the accounts to find its id.', { details: { resource: 'account', field: 'account_id' } });
  assertWorkspaceAccess(caller, account.workspaceId ?? null);
  return account;
}

function refuseMismatch(template: ContentTemplate, account: Account | null, platform: Platform | undefined): void {
  if (account === null) return;
  if (template.workspaceId && account.workspaceId && template.workspaceId !== account.workspaceId) {
    throw new ApiError('WORKSPACE_SCOPE_CONFLICT', 'The account is in another workspace than the template, so no post can join them.', { details: { field: 'account_id' } });
  }
  if (platform !== undefined && platform !== account.platform) {
    throw new ApiError('BAD_REQUEST', `The account is on ${account.platform}, not on ${platform}. Give one of the two.`, { details: { field: 'platform' } });
  }
}

/** What the caller gives wins over what is built in. */
function valuesOf({ body, now }: Call, account: Account | null): Record<string, string> {
  return { date: body.date ?? dayIn(body.timezone ?? 'UTC', now), ...(account === null ? {} : { account_name: accountName(account) }), ...body.variables };
}

/** As the platform counts it; null where that is not known. */
function lengthOf(text: string, platform: Platform | null, account: Account | null): Record<string, unknown> | null {
  const catalog = platform === null ? null : platformCatalog(platform);
  if (catalog === null) return null;
  const { value, limit, unit } = catalog.length({ text, options: catalog.normalizeOptions(), account: { username: account?.username ?? null, metadata: account?.metadata ?? {}, facts: account?.facts ?? {} } });
  return { value, limit, unit };
}
