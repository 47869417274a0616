import { timingSafeEqual } from 'node:crypto';
import { randomText, sha256 } from './ids.ts';
import type { Pool } from './store/pg.ts';

export const BEHAVIOURS = [
  'normal', 'token_expired', 'token_revoked', 'refresh_lost', 'scopes_missing', 'suspended', 'rate_limited', 'listing_hidden', 'listing_late',
  'ignores_idempotency', 'processing_slow', 'processing_failed',
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

export interface Account {
  id: string;
  organizationId: string;
  platform: string;
  platformAccountId: string;
  username: string;
  displayName: string;
  behaviour: Behaviour;
  behaviourGeneration: number;
  accessSha256: Buffer;
  refreshSha256: Buffer | null;
  accessSince: Date;
  generation: number;
}

export interface TokenPair {
  access: string;
  refresh: string;
}

/** Another process may have changed an account; within this one a change acts at once. */
const CACHE_MS = 1_000;
const TOKEN = /^sandbox-([0-9a-f]{32})-([0-9]{1,9})-[A-Za-z0-9]{24}$/;

const COLUMNS = `id, organization_id as "organizationId", platform, platform_account_id as "platformAccountId", username,
  coalesce(display_name, username) as "displayName", behaviour, behaviour_generation as "behaviourGeneration", access_sha256 as "accessSha256",
  refresh_sha256 as "refreshSha256", access_since as "accessSince", generation`;

/** Who may call, and as whom. Knows tokens by their digest only. */
export class Accounts {
  readonly #pool: Pool;
  readonly #cache = new Map<string, { account: Account | null; at: number }>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async byId(id: string): Promise<Account | null> {
    const held = this.#cache.get(id);
    if (held !== undefined && Date.now() - held.at < CACHE_MS) return held.account;
    const { rows } = await this.#pool.query<Account>({ name: 'account', text: `select ${COLUMNS} from sandbox.account where id = $1`, values: [id] });
    const account = rows[0] ?? null;
    if (account !== null) this.#cache.set(id, { account, at: Date.now() });
    return account;
  }

  /** Every change of an account ends here, so that the next request sees it. */
  forget(id: string): void {
    this.#cache.delete(id);
  }

  /** The account whose current access token this is. An older generation, another platform or a foreign token is nobody. */
  async byAccessToken(platform: string, token: string | null): Promise<Account | null> {
    const match = token === null ? null : TOKEN.exec(token);
    if (match === null) return null;
    const account = await this.byId(`acc_${match[1]}`);
    if (account === null || account.platform !== platform) return null;
    return timingSafeEqual(Buffer.from(sha256(token!), 'hex'), account.accessSha256) ? account : null;
  }

  async byRefreshToken(platform: string, token: string): Promise<Account | null> {
    const { rows } = await this.#pool.query<Account>({
      text: `select ${COLUMNS} from sandbox.account where platform = $1 and refresh_sha256 = decode($2, 'hex')`,
      values: [platform, sha256(token)],
    });
    return rows[0] ?? null;
  }

  /** Another account of the same organization, by the id that the platform gave it: public things are visible there. */
  async neighbour(account: Account, platformAccountId: string): Promise<Account | null> {
    if (platformAccountId === account.platformAccountId) return account;
    const { rows } = await this.#pool.query<Account>({
      text: `select ${COLUMNS} from sandbox.account where organization_id = $1 and platform = $2 and platform_account_id = $3 limit 1`,
      values: [account.organizationId, account.platform, platformAccountId],
    });
    return rows[0] ?? null;
  }

  /**
   * Trades a refresh token for a new pair, once: of two simultaneous callers one gets `null`. The new generation is committed before
   * the answer, so an answer that is lost loses the connection, as it does on the platform.
   */
  async rotate(account: Account, refreshToken: string): Promise<TokenPair | null> {
    const stem = `sandbox-${account.id.slice('acc_'.length)}-${account.generation + 1}-`;
    const pair = { access: stem + randomText(24), refresh: stem + randomText(24) };
    const { rowCount } = await this.#pool.query({
      text: `update sandbox.account set access_sha256 = decode($1, 'hex'), refresh_sha256 = decode($2, 'hex'), generation = generation + 1,
        access_since = now() where id = $3 and refresh_sha256 = decode($4, 'hex')`,
      values: [sha256(pair.access), sha256(pair.refresh), account.id, sha256(refreshToken)],
    });
    this.forget(account.id);
    return rowCount === 1 ? pair : null;
  }
}
