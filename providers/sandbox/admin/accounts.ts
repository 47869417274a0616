import { isPlatform } from '../../../infra/contract/platforms.ts';
import { isId } from '../../../infra/contract/ids.ts';
import { BEHAVIOURS, type Account } from '../accounts.ts';
import { json, type Reply } from '../reply.ts';
import type { Sandbox } from '../sandbox.ts';
import { fault, noContent, type AdminHandler } from './admin-call.ts';

const SHA256 = /^[0-9a-f]{64}$/;

type Given = Record<string, unknown>;

const isBehaviour = (value: unknown): boolean => (BEHAVIOURS as readonly unknown[]).includes(value);
const isText = (value: unknown, max: number): boolean => typeof value === 'string' && value.length > 0 && value.length <= max;

/** Each field with what it must be. */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  organization_id: (value) => isId('organization', value),
  platform: (value) => typeof value === 'string' && isPlatform(value),
  platform_account_id: (value) => isText(value, 255),
  username: (value) => isText(value, 255),
  display_name: (value) => value === undefined || value === null || isText(value, 255),
  behaviour: (value) => value === undefined || isBehaviour(value),
  access_token_sha256: (value) => typeof value === 'string' && SHA256.test(value),
  refresh_token_sha256: (value) => value === undefined || value === null || (typeof value === 'string' && SHA256.test(value)),
  generation: (value) => Number.isInteger(value) && (value as number) >= 1,
};

const asObject = (body: unknown): Given => (typeof body === 'object' && body !== null ? body as Given : {});

/** Makes an account, or replaces what is known of it. A changed token starts its lifetime anew. */
export const putAccount: AdminHandler = async ({ sandbox, params, body }) => {
  const given = asObject(body);
  const wrong = Object.keys(FIELDS).find((name) => !FIELDS[name]!(given[name]));
  if (wrong !== undefined) return fault(400, `${wrong} is missing or malformed`);
  await sandbox.pool.query({ text: 'insert into sandbox.organization (id) values ($1) on conflict do nothing', values: [given.organization_id] });
  await sandbox.pool.query({
    text: `insert into sandbox.account (id, organization_id, platform, platform_account_id, username, display_name, behaviour, behaviour_generation,
        access_sha256, refresh_sha256, generation)
      values ($1, $2, $3, $4, $5, $6, coalesce($7, 'normal'), $10, decode($8, 'hex'), decode($9, 'hex'), $10)
      on conflict (id) do update set organization_id = excluded.organization_id, platform = excluded.platform,
        platform_account_id = excluded.platform_account_id, username = excluded.username, display_name = excluded.display_name,
        behaviour = coalesce($7, sandbox.account.behaviour),
        behaviour_generation = case when $7 is null then sandbox.account.behaviour_generation else excluded.generation end,
        access_since = case when sandbox.account.access_sha256 = excluded.access_sha256 then sandbox.account.access_since else now() end,
        access_sha256 = excluded.access_sha256, refresh_sha256 = excluded.refresh_sha256, generation = excluded.generation`,
    values: [params[0], given.organization_id, given.platform, given.platform_account_id, given.username, given.display_name ?? null, given.behaviour ?? null,
      given.access_token_sha256, given.refresh_token_sha256 ?? null, given.generation],
  });
  return reread(sandbox, params[0]!);
};

export const readAccount: AdminHandler = ({ sandbox, params }) => reread(sandbox, params[0]!);

/** Sets the behaviour from the next call on. For `token_expired` a refresh that comes later ends it. */
export const patchAccount: AdminHandler = async ({ sandbox, params, body }) => {
  const { behaviour } = asObject(body);
  if (!isBehaviour(behaviour)) return fault(400, 'behaviour is missing or unknown');
  await sandbox.pool.query({ text: 'update sandbox.account set behaviour = $2, behaviour_generation = generation where id = $1', values: [params[0], behaviour] });
  return reread(sandbox, params[0]!);
};

export const deleteAccount: AdminHandler = async ({ sandbox, params }) => {
  await sandbox.pool.query({ text: 'delete from sandbox.account where id = $1', values: [params[0]] });
  sandbox.accounts.forget(params[0]!);
  return noContent();
};

async function reread(sandbox: Sandbox, id: string): Promise<Reply> {
  sandbox.accounts.forget(id);
  const account = await sandbox.accounts.byId(id);
  return account === null ? fault(404, 'no such account') : json(200, accountView(account));
}

function accountView(account: Account): Record<string, unknown> {
  return {
    id: account.id, organization_id: account.organizationId, platform: account.platform, platform_account_id: account.platformAccountId,
    username: account.username, display_name: account.displayName, behaviour: account.behaviour, generation: account.generation,
  };
}
