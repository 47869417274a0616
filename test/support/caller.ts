import { randomUUID } from 'node:crypto';
import { until } from './until.ts';

export interface Answered {
  status: number;
  headers: Headers;
  body: any;
}

/** A client of the API, as a customer's: a key and a base address. */
export class Caller {
  readonly #baseUrl: string;
  readonly #key: string;

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answered> {
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  }

  get = (path: string) => this.call('GET', path);
  post = (path: string, body?: unknown, headers?: Record<string, string>) => this.call('POST', path, body, headers);
  patch = (path: string, body?: unknown) => this.call('PATCH', path, body);
  delete = (path: string) => this.call('DELETE', path);

  async publish(body: Record<string, unknown>, key: string = randomUUID()): Promise<any> {
    const { status, body: post } = await this.post('/v1/posts', { scheduled_at: 'now', allow_duplicate: true, ...body }, { 'idempotency-key': key });
    if (status !== 201) throw new Error(`the post was not accepted: ${status} ${JSON.stringify(post)}`);
    return post;
  }

  /** The post once nothing of it is under way. */
  async ended(postId: string, withinMs?: number): Promise<any> {
    return until(`${postId} has ended`, async () => {
      const { status, body } = await this.get(`/v1/posts/${postId}`).catch(() => ({ status: 0, body: null }));
      return status === 200 && body.status !== 'publishing' && body.status !== 'scheduled' ? body : null;
    }, withinMs);
  }

  /** A target's state as the tables of the contract name it. */
  static state(post: any, accountId: string): string {
    const target = post.targets[accountId];
    return target.status === 'failed' ? `failed ${target.error.code}` : target.status;
  }

  async ledger(query: Record<string, string>): Promise<any[]> {
    const { status, body } = await this.get(`/v1/sandbox/ledger?${new URLSearchParams({ limit: '100', ...query }).toString()}`);
    if (status !== 200) throw new Error(`the ledger could not be read: ${status} ${JSON.stringify(body)}`);
    return body.data;
  }
}
