import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../support/api.ts';
import { codeOf, openWorld, type World } from './world.ts';

/** The clock of the application is not that of this machine: by ours, what is in range for it is not, and the other way round. */
const AHEAD_MS = 40 * 86_400_000;
const inSeconds = (seconds: number) => new Date(Date.now() + AHEAD_MS + seconds * 1000).toISOString();

let world: World;
let draft: string;
beforeAll(async () => {
  world = await openWorld({ clock: { now: () => new Date(Date.now() + AHEAD_MS) } });
  draft = (await world.accepted({ targets: ['mastodon'], scheduled_at: 'draft', content: 'x' })).id;
});
afterAll(() => world.close());

const body = (scheduled_at: string) => ({ targets: ['mastodon'], scheduled_at, content: 'x' });
const ROUTES: [name: string, send: (scheduled_at: string) => Promise<Answer>][] = [
  ['POST /v1/posts', (at) => world.post(body(at))],
  ['PATCH /v1/posts/{id}', (scheduled_at) => world.send('PATCH', `/v1/posts/${draft}`, { scheduled_at })],
  ['POST /v1/posts/{id}/duplicate', (scheduled_at) => world.send('POST', `/v1/posts/${draft}/duplicate`, { scheduled_at })],
];

describe.each(ROUTES)('%s › a time is judged by the one clock of the process', (_name, send) => {
  test('in range', async () => {
    const answer = await send(inSeconds(3_600));
    expect([200, 201]).toContain(answer.status);
    expect(answer.body.status).toBe('scheduled');
  });

  test.each([['too_small', inSeconds(-3_600)], ['too_big', inSeconds(31 * 86_400)], ['too_small', new Date().toISOString()]])('%s', async (code, at) => {
    const answer = await send(at);
    expect([...codeOf(answer), answer.body.error.details.issues.map((issue: any) => [issue.code, issue.path])]).toEqual([422, 'VALIDATION_ERROR', [[code, ['scheduled_at']]]]);
  });
});

test('of many posts each is judged by it too', async () => {
  const { body: { data } } = await world.send('POST', '/v1/posts/bulk', { posts: [body(inSeconds(3_600)), body(new Date().toISOString())] });
  expect(data.map((item: any) => item.error?.details.issues[0].code ?? item.status)).toEqual(['scheduled', 'too_small']);
});
