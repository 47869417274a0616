import type { AccountView, Answer, MediaFile, ProviderHttp, ProviderRequest, PublishWork } from '../../providers/provider.ts';

export interface Script {
  status?: number;
  json?: unknown;
  /** A body that is no JSON. */
  text?: string;
  contentType?: string;
  headers?: Record<string, string>;
}

export function answerOf({ status = 200, json, text, contentType, headers = {} }: Script): Answer {
  const type = contentType ?? (text === undefined ? 'application/json' : 'text/html');
  const isJson = text === undefined && /json/.test(type);
  return { status, headers, contentType: type, body: Buffer.from(text ?? JSON.stringify(json) ?? ''), json: isJson ? json : undefined };
}

/** Answers in turn, and keeps what was asked. */
export class ScriptedHttp implements ProviderHttp {
  readonly requests: ProviderRequest[] = [];
  readonly #answers: Script[];

  constructor(...answers: Script[]) {
    this.#answers = answers;
  }

  request(request: ProviderRequest): Promise<Answer> {
    this.requests.push(request);
    const next = this.#answers.shift();
    return next === undefined ? Promise.reject(new Error(`nothing scripted for ${request.method} ${request.url}`)) : Promise.resolve(answerOf(next));
  }
}

export const NOW = new Date('2026-11-21T10:00:00.000Z');
export const HTML = { text: '<html>Bad gateway</html>' };

export function accountOf(more: Partial<AccountView> = {}): AccountView {
  return { id: 'acc_1', platformAccountId: '42', username: 'ada', displayName: 'Ada', metadata: {}, facts: {}, factsAt: NOW, ...more };
}

export function workOf(more: Partial<PublishWork> = {}): PublishWork {
  return {
    operationId: 'op_1', account: accountOf(), credential: { accessToken: 'secret', refreshToken: 'next' }, endpoints: {},
    text: 'Hello', media: [], options: {}, checkpoints: {}, now: NOW, ...more,
  };
}

export function fileOf(more: Partial<MediaFile> = {}): MediaFile {
  const content = Buffer.alloc(more.bytes ?? 10, 'x');
  return { kind: 'image', mimeType: 'image/png', bytes: content.length, altText: null, read: (from = 0, to = content.length) => Promise.resolve(content.subarray(from, to)), ...more };
}
