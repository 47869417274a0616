import { Agent, request } from 'node:http';
import { atOnce } from './stats.ts';

export interface Ask {
  port: number;
  path: string;
  key: string;
  method?: string;
}

const agent = new Agent({ keepAlive: true });

/** One request on a kept connection, with as little of our own as can be. */
export function ask({ port, path, key, method = 'GET' }: Ask): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, method, agent, headers: { authorization: `Bearer ${key}` } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk)).on('error', reject).on('end', () => {
        if (answer.statusCode! >= 300) reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`));
        else resolve(text);
      });
    });
    sent.on('error', reject).end();
  });
}

/** Milliseconds per request, so many at once. */
export async function msPer(one: Ask, requests: number, concurrency: number): Promise<number> {
  const startedAt = performance.now();
  await atOnce(Array.from({ length: requests }), concurrency, () => ask(one));
  return (performance.now() - startedAt) / requests;
}
