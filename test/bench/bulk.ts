import { randomUUID } from 'node:crypto';
import { formBytes, formType } from '../support/form.ts';
import { median } from './stats.ts';

export interface Creating {
  productPort: number;
  key: string;
  /** An account that drafts may be made for. */
  account: string;
}

const BULK = 50;
const ROWS = 500;

/** Drafts created together, in milliseconds per post, against as many created one after another in the same run. */
export async function benchBulk(creating: Creating, { rounds, say }: { rounds: number; say(text: string): void }): Promise<void> {
  say(`\nms per post of drafts, median of ${rounds} rounds; × = one by one against together\n`);
  say(`${'creation'.padEnd(32)}${['one by one', 'together', '×'].map((one) => one.padStart(11)).join('')}`);
  for (const [name, posts, together] of [[`bulk of ${BULK}`, BULK, bulk], [`CSV of ${ROWS} rows`, ROWS, csv]] as const) {
    const alone: number[] = [];
    const joined: number[] = [];
    for (let round = 0; round < rounds; round++) {
      alone.push(await msPerPost(posts, async () => {
        for (let n = 0; n < posts; n++) await single(creating);
      }));
      joined.push(await msPerPost(posts, () => together(creating, posts)));
    }
    say(`${name.padEnd(32)}${[median(alone), median(joined), median(alone) / median(joined)].map((one) => one.toFixed(2).padStart(11)).join('')}`);
  }
}

async function msPerPost(posts: number, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / posts;
}

const draft = ({ account }: Creating) => ({ targets: [account], scheduled_at: 'draft', content: `a draft of the benchmark ${randomUUID()}` });

function single(creating: Creating): Promise<void> {
  return send(creating, '/v1/posts', JSON.stringify(draft(creating)), 'application/json');
}

function bulk(creating: Creating, posts: number): Promise<void> {
  return send(creating, '/v1/posts/bulk', JSON.stringify({ posts: Array.from({ length: posts }, () => draft(creating)) }), 'application/json');
}

function csv(creating: Creating, rows: number): Promise<void> {
  const lines = Array.from({ length: rows }, () => draft(creating)).map(({ targets, content }) => `${targets[0]},draft,${content}`);
  const content = ['targets,scheduled_at,content', ...lines].join('\r\n');
  return send(creating, '/v1/posts/bulk-csv', formBytes([{ name: 'file', fileName: 'posts.csv', type: 'text/csv', content }]), formType());
}

/** Every post must be accepted, or what is measured would be refusals. */
async function send({ productPort, key }: Creating, path: string, body: string | Uint8Array, type: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${productPort}${path}`, { method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': type }, body: body as string });
  const text = await answer.text();
  const failed = (JSON.parse(text) as { summary?: { failed: number } }).summary?.failed ?? 0;
  if (answer.status !== 201 || failed > 0) throw new Error(`${path}: ${answer.status} ${text.slice(0, 500)}`);
}
