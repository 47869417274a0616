import type { LedgerMedia } from '../ledger.ts';
import type { Pool } from './pg.ts';

export interface StoredObject {
  platform: string;
  objectId: string;
  organizationId: string;
  accountId: string;
  kind: string;
  pageId: string;
  url: string;
  text: string | null;
  parentId: string | null;
  media: LedgerMedia[];
  detail: Record<string, any>;
  state: 'public' | 'removed' | 'rejected' | 'absent';
  hidden: boolean;
  seq: string;
  createdAt: Date;
}

export interface ListBounds {
  /** Exclusive bounds in the platform's own order. */
  above?: string;
  below?: string;
  from?: Date;
  before?: Date;
  withoutReplies?: boolean;
  /** The ones next above the lower bound, in place of the newest. */
  oldestFirst?: boolean;
  limit: number;
}

const COLUMNS = `platform, object_id as "objectId", organization_id as "organizationId", account_id as "accountId", kind, page_id as "pageId", url, text,
  parent_id as "parentId", media, detail, state, hidden, seq::text as seq, created_at as "createdAt"`;
/** What a reader of the platform sees now; a hidden object counts as seen, because its reader gets an error. */
const READABLE = `(state = 'public' and not hidden and visible_at <= now() and (vanish_at is null or vanish_at > now())
  or hidden and state in ('public', 'absent') and (vanish_at is null or vanish_at > now()))`;

/** What is public on the played platforms. Objects are made by the ledger only; this reads them. */
export class Objects {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** One object as a reader in its organization sees it. `hidden` on the result means that the read itself must fail. */
  async find(platform: string, organizationId: string, objectId: string): Promise<StoredObject | null> {
    return this.#one(`platform = $1 and organization_id = $2 and object_id = $3 and ${READABLE}`, [platform, organizationId, objectId]);
  }

  /** What a key or a finished write names, whatever readers may see. */
  async stored(platform: string, objectId: string): Promise<StoredObject | null> {
    return this.#one('platform = $1 and object_id = $2', [platform, objectId]);
  }

  async byPage(platform: string, pageId: string): Promise<StoredObject | null> {
    return this.#one(`platform = $1 and (page_id = $2 or object_id = $2) and state = 'public' and (vanish_at is null or vanish_at > now())`, [platform, pageId]);
  }

  async many(platform: string, organizationId: string, objectIds: string[]): Promise<StoredObject[]> {
    const { rows } = await this.#pool.query<StoredObject>({
      text: `select ${COLUMNS} from sandbox.object where platform = $1 and organization_id = $2 and object_id = any($3) and ${READABLE}`,
      values: [platform, organizationId, objectIds],
    });
    return rows;
  }

  /** An account's list, newest first, or `null` when it would hold a hidden object: then nobody may learn what it holds. */
  async list(accountId: string, bounds: ListBounds): Promise<StoredObject[] | null> {
    const values: unknown[] = [accountId];
    const bind = (value: unknown): string => `$${values.push(value)}`;
    const where = ['account_id = $1', 'listed', READABLE];
    if (bounds.above !== undefined) where.push(`seq > ${bind(bounds.above)}`);
    if (bounds.below !== undefined) where.push(`seq < ${bind(bounds.below)}`);
    if (bounds.from !== undefined) where.push(`created_at >= ${bind(bounds.from)}`);
    if (bounds.before !== undefined) where.push(`created_at < ${bind(bounds.before)}`);
    if (bounds.withoutReplies === true) where.push('parent_id is null');
    const { rows } = await this.#pool.query<StoredObject>({
      text: `select ${COLUMNS} from sandbox.object where ${where.join(' and ')} order by seq ${bounds.oldestFirst === true ? 'asc' : 'desc'} limit ${bind(bounds.limit)}`,
      values,
    });
    if (rows.some((row) => row.hidden)) return null;
    return bounds.oldestFirst === true ? rows.toReversed() : rows;
  }

  /** Texts of the last posts, for platforms that refuse repetitions. */
  async recentTexts(accountId: string, since: Date, limit: number): Promise<(string | null)[]> {
    const { rows } = await this.#pool.query<{ text: string | null }>({
      text: `select text from sandbox.object where account_id = $1 and state = 'public' and created_at >= $2 order by seq desc limit $3`,
      values: [accountId, since, limit],
    });
    return rows.map((row) => row.text);
  }

  async #one(where: string, values: unknown[]): Promise<StoredObject | null> {
    const { rows } = await this.#pool.query<StoredObject>({ text: `select ${COLUMNS} from sandbox.object where ${where}`, values });
    return rows[0] ?? null;
  }
}
