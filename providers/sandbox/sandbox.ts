import type { Accounts } from './accounts.ts';
import type { Ledger } from './ledger.ts';
import type { Limits } from './limits.ts';
import type { Log } from './log.ts';
import type { Media } from './store/media.ts';
import type { Objects } from './store/objects.ts';
import type { Pool } from './store/pg.ts';
import type { UsedWords } from './store/used-words.ts';
import type { Vanishing } from './vanishing.ts';

/** Everything a route may reach. Made once, in open.ts. */
export interface Sandbox {
  settings: Settings;
  pool: Pool;
  accounts: Accounts;
  ledger: Ledger;
  objects: Objects;
  media: Media;
  usedWords: UsedWords;
  limits: Limits;
  vanishing: Vanishing;
  log: Log;
}

export interface Settings {
  /** Public address of the service: pages and samples are reached there. */
  baseUrl: string;
  /** Address of this server, as its callers know it. */
  url: string;
  latencyMs: number;
  duplicates: boolean;
  /** Secret: opens the administration, and makes the ids of pages. */
  secret: string;
}
