import type { Dispatcher } from 'undici';
import { refuseEncodings } from './answer.ts';
import { Exchange, type Reader } from './exchange.ts';
import { Stopped } from './failure.ts';
import { TransportFailure, type PartialAnswer, type Reach, type Trip } from './types.ts';

const REDIRECTS_MAX = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface DownloadOptions {
  reach: Reach;
  maxBytes: number;
  deadline: Date;
  /** Called in order; the next piece waits for its promise. Only for a status 2xx. */
  sink: (chunk: Buffer) => void | Promise<void>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Downloaded {
  /** Of the last answer. Not 2xx: nothing went to the sink. */
  status: number;
  headers: Readonly<Record<string, string>>;
  contentType: string | null;
  bytes: number;
  redirects: number;
  trip: Trip;
}

interface Job {
  url: string;
  options: DownloadOptions;
  admit: (url: string, reach: Reach) => { url: URL; way: 'guarded' | 'open' };
  pools: Record<'guarded' | 'open', Dispatcher>;
}

export async function download(job: Job): Promise<Downloaded> {
  let url = job.url;
  for (let redirects = 0; ; redirects++) {
    const { reader, trip } = await fetchOnce(job, url);
    const location = reader.headers['location'];
    if (!REDIRECTS.has(reader.status)) {
      return { status: reader.status, headers: reader.headers, contentType: reader.headers['content-type'] ?? null, bytes: reader.bytes, redirects, trip };
    }
    const next = location === undefined ? null : URL.parse(location, url);
    const isWeaker = next?.protocol === 'http:' && url.startsWith('https:');
    if (next === null || isWeaker || redirects === REDIRECTS_MAX) throw new TransportFailure('redirect', trip, reader.partial());
    url = next.href;
  }
}

async function fetchOnce({ options, admit, pools }: Job, target: string): Promise<{ reader: StreamReader; trip: Trip }> {
  const { url, way } = admit(target, options.reach);
  const reader = new StreamReader(options);
  const exchange = new Exchange({ reader, deadline: options.deadline, signal: options.signal });
  const headers = { 'user-agent': 'oncepost', accept: '*/*', ...options.headers, 'accept-encoding': 'identity' };
  const trip = await exchange.run(pools[way], { origin: url.origin, path: `${url.pathname}${url.search}`, method: 'GET', headers, body: null });
  return { reader, trip };
}

/** Passes the bytes on and keeps none. Pages beside a 2xx are read to a small limit, so that the connection can be used again. */
class StreamReader implements Reader {
  readonly #options: DownloadOptions;
  #discarded = 0;
  status = 0;
  headers: Record<string, string> = {};
  bytes = 0;

  constructor(options: DownloadOptions) {
    this.#options = options;
  }

  start(status: number, headers: Record<string, string>): void {
    this.status = status;
    this.headers = headers;
    if (!this.#wanted) return;
    refuseEncodings(headers);
    if (Number(headers['content-length']) > this.#options.maxBytes) throw new Stopped('too_large');
  }

  data(chunk: Buffer): void | Promise<void> {
    if (!this.#wanted) {
      this.#discarded += chunk.length;
      if (this.#discarded > this.#options.maxBytes) throw new Stopped('too_large');
      return;
    }
    this.bytes += chunk.length;
    if (this.bytes > this.#options.maxBytes) throw new Stopped('too_large');
    return this.#options.sink(chunk);
  }

  partial(): PartialAnswer | null {
    return this.status === 0 ? null : { status: this.status, contentType: this.headers['content-type'] ?? null, excerpt: Buffer.alloc(0) };
  }

  get #wanted(): boolean {
    return this.status >= 200 && this.status < 300;
  }
}
