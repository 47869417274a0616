import { createHash } from 'node:crypto';
import type { LedgerMedia } from '../ledger.ts';
import type { Pool } from './pg.ts';

export type MediaState = 'open' | 'processing' | 'ready' | 'failed';

export interface StoredMedia {
  id: string;
  accountId: string;
  kind: string;
  mimeType: string;
  bytes: number;
  sha256: string | null;
  altText: string | null;
  /** Magic words that were found in the file itself. */
  words: string;
  detail: Record<string, any>;
  state: MediaState;
  readyAt: Date | null;
  attachedTo: string | null;
  createdAt: Date;
}

type Row = Omit<StoredMedia, 'bytes'> & { bytes: string };

const COLUMNS = `media_id as id, account_id as "accountId", kind, mime_type as "mimeType", bytes, sha256, alt_text as "altText", words, detail, state,
  ready_at as "readyAt", attached_to as "attachedTo", created_at as "createdAt"`;

/** Private uploads. The bytes are not kept: what is shown in public is a sample of the right kind. */
export class Media {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async add(platform: string, media: Omit<StoredMedia, 'attachedTo' | 'createdAt'>): Promise<void> {
    await this.#pool.query({
      text: `insert into sandbox.media (platform, media_id, account_id, kind, mime_type, bytes, sha256, alt_text, words, detail, state, ready_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      values: [platform, media.id, media.accountId, media.kind, media.mimeType, media.bytes, media.sha256, media.altText, media.words,
        JSON.stringify(media.detail), media.state, media.readyAt],
    });
  }

  /** The account's own media, in the order asked for; unknown ids are missing from the result. */
  async find(platform: string, accountId: string, ids: string[]): Promise<StoredMedia[]> {
    if (ids.length === 0) return [];
    const { rows } = await this.#pool.query<Row>({
      text: `select ${COLUMNS} from sandbox.media where platform = $1 and account_id = $2 and media_id = any($3)`,
      values: [platform, accountId, ids],
    });
    const byId = new Map(rows.map((row) => [row.id, settled({ ...row, bytes: Number(row.bytes) })]));
    return ids.map((id) => byId.get(id)).filter((media) => media !== undefined);
  }

  async change(platform: string, id: string, change: Partial<Pick<StoredMedia, 'state' | 'readyAt' | 'altText' | 'words' | 'sha256' | 'detail'>>): Promise<void> {
    const columns = { state: 'state', readyAt: 'ready_at', altText: 'alt_text', words: 'words', sha256: 'sha256', detail: 'detail' } as const;
    const values: unknown[] = [platform, id];
    const sets = Object.entries(change).map(([name, value]) => {
      values.push(name === 'detail' ? JSON.stringify(value) : value);
      return `${columns[name as keyof typeof columns]} = $${values.length}`;
    });
    await this.#pool.query({ text: `update sandbox.media set ${sets.join(', ')} where platform = $1 and media_id = $2`, values });
  }

  async remove(platform: string, id: string): Promise<void> {
    await this.#pool.query({ text: 'delete from sandbox.media where platform = $1 and media_id = $2', values: [platform, id] });
  }

  /** A segment sent again replaces itself. */
  async addSegment(platform: string, id: string, position: number, content: Buffer): Promise<void> {
    await this.#pool.query({
      text: `insert into sandbox.segment (platform, media_id, position, content) values ($1, $2, $3, $4)
        on conflict (platform, media_id, position) do update set content = excluded.content`,
      values: [platform, id, position, content],
    });
  }

  /** Length, digest and first bytes of what the segments make together. Read one by one: a file may be larger than memory should be. */
  async assemble(platform: string, id: string): Promise<{ bytes: number; sha256: string; head: Buffer }> {
    const { rows } = await this.#pool.query<{ position: number }>({
      text: 'select position from sandbox.segment where platform = $1 and media_id = $2 order by position', values: [platform, id],
    });
    const hash = createHash('sha256');
    let bytes = 0;
    let head: Buffer = Buffer.alloc(0);
    for (const { position } of rows) {
      const segment = await this.#pool.query<{ content: Buffer }>({
        text: 'select content from sandbox.segment where platform = $1 and media_id = $2 and position = $3', values: [platform, id, position],
      });
      const content = segment.rows[0]?.content ?? Buffer.alloc(0);
      if (bytes === 0) head = content.subarray(0, 64);
      bytes += content.length;
      hash.update(content);
    }
    return { bytes, sha256: hash.digest('hex'), head };
  }

  async dropSegments(platform: string, id: string): Promise<void> {
    await this.#pool.query({ text: 'delete from sandbox.segment where platform = $1 and media_id = $2', values: [platform, id] });
  }
}

/** Processing ends by the clock; nothing has to run for it. */
function settled(media: StoredMedia): StoredMedia {
  if (media.state !== 'processing' || media.readyAt === null || media.readyAt.getTime() > Date.now()) return media;
  return { ...media, state: media.detail.fails === true ? 'failed' : 'ready' };
}

export function ledgerMedia(media: StoredMedia): LedgerMedia {
  return { kind: media.kind, mime_type: media.mimeType, bytes: media.bytes, sha256: media.sha256, alt_text: media.altText };
}
