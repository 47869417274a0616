import { expect } from '@jest/globals';
import { putAbsenceBack } from '../support/absence.ts';
import { Caller } from '../support/caller.ts';
import { until } from '../support/until.ts';
import { deleted, WAITS, type Story } from './before-sending.ts';
import { fresh, type Stage, type Told } from './stage.ts';

const UNKNOWN = 'failed PROVIDER_OUTCOME_UNKNOWN';
/** Done, and nobody is told; nobody can look it up either. */
const LOST = '[[sandbox:drop-after]] [[sandbox:hide-listing]]';
const NOT_DONE = '[[sandbox:drop-before]] [[sandbox:hide-listing]]';

/** Stories of targets that are being sent or were, by `from | trigger | condition` of the table. */
export const AFTER_SENDING: Record<string, Story> = {
  'publishing | media refused before any claim | definite': async (stage) => {
    const media = [{ url: `${stage.system.baseUrl}/sandbox/samples/none.jpg`, type: 'image' }];
    const post = await stage.create('now', '', { media });
    const failed = await stage.reached(post.id, 'failed MEDIA_NOT_READY');
    expect([(await stage.operation(failed)).sent_at, await stage.publications(post.id)]).toEqual([null, 0]);
    return stage.told(Caller.state(post, stage.twitter), Caller.state(failed, stage.twitter), post.id);
  },
  'publishing | plan refused before any claim | definite': async (stage) => {
    // The platform withdraws the authorisation at the first attempt, so the second cannot even be planned.
    await stage.change('patch', `/v1/accounts/${stage.twitter}`, { sandbox_behaviour: 'token_revoked' });
    const post = await stage.create('now');
    await stage.caller.ended(post.id);
    expect((await stage.caller.get(`/v1/accounts/${stage.twitter}`)).body.status).toBe('reconnect_required');
    const again = await stage.change('post', `/v1/posts/${post.id}/retry`);
    const failed = await stage.reached(post.id, 'failed ACCOUNT_RECONNECT_REQUIRED');
    expect([(await stage.operation(failed)).sent_at, await stage.publications(post.id)]).toEqual([null, 0]);
    return stage.told(Caller.state(again, stage.twitter), Caller.state(failed, stage.twitter), post.id);
  },
  'publishing | waiting | pacing': async (stage) => {
    await stage.move('update account set min_gap_seconds = 600 where id = ?', [stage.twitter]);
    await stage.reached((await stage.create('now')).id, 'published');
    return waits(stage, await stage.create('now'), 'rate_budget');
  },
  'publishing | waiting | 429 that did nothing': async (stage) => waits(stage, await stage.create('now', WAITS), 'provider_wait'),
  'publishing | waiting | processing': async (stage) => {
    await stage.change('patch', `/v1/accounts/${stage.twitter}`, { sandbox_behaviour: 'processing_slow' });
    const media = [{ url: `${stage.system.baseUrl}/sandbox/samples/image.jpg` }];
    return waits(stage, await stage.create('now', '', { media }), 'provider_processing');
  },
  'publishing | operation succeeded | proof stored': async (stage) => {
    const post = await stage.create('now');
    const published = await stage.reached(post.id, 'published');
    const { platform_post_id: id, url, published_at: at, operation_state: state } = stage.target(published);
    const [entry] = await stage.caller.ledger({ post_id: post.id });
    expect([id, state, typeof url, published.published_at]).toEqual([entry.platform_post_id, 'succeeded', 'string', at]);
    return stage.told(Caller.state(post, stage.twitter), Caller.state(published, stage.twitter), post.id);
  },
  'publishing | operation failed | documented refusal': async (stage) => {
    const post = await stage.create('now', '[[sandbox:refuse]]');
    const failed = await stage.reached(post.id, 'failed CONTENT_REJECTED');
    expect([stage.target(failed).operation_state, failed.targets[stage.twitter].error.retryable]).toEqual(['failed', true]);
    return stage.told(Caller.state(post, stage.twitter), Caller.state(failed, stage.twitter), post.id);
  },
  'publishing | operation failed | patience over': async (stage) => {
    const post = await stage.create('now', '[[sandbox:rate-limit-always=2]]', { catch_up: { on_late: 'publish' } });
    await stage.waiting(post.id, 'provider_wait');
    await stage.move(`update operation set began_at = began_at - interval '6 hours 1 second' where post_id = ?`, [post.id]);
    const failed = await stage.reached(post.id, 'failed RATE_LIMITED');
    expect([(await stage.operation(failed)).settled_by, await stage.publications(post.id)]).toEqual(['service', 0]);
    return stage.told(Caller.state(post, stage.twitter), Caller.state(failed, stage.twitter), post.id);
  },
  'publishing | operation unknown | ': async (stage) => {
    const post = await stage.create('now', LOST);
    const unknown = await stage.reached(post.id, UNKNOWN);
    const { error } = unknown.targets[stage.twitter];
    expect([error.retryable, error.operation_id, stage.target(unknown).operation_state]).toEqual([false, stage.target(unknown).operation_id, 'unknown']);
    const retried = await stage.caller.post(`/v1/posts/${post.id}/retry`);
    expect([retried.status, retried.body.error.code]).toEqual([409, 'PROVIDER_OUTCOME_UNKNOWN']);
    return stage.told(Caller.state(post, stage.twitter), Caller.state(unknown, stage.twitter), post.id);
  },
  'publishing | cancel | operation still pending': async (stage) => {
    const post = await stage.waiting((await stage.create('now', WAITS)).id, 'provider_wait');
    const cancelled = await stage.change('post', `/v1/posts/${post.id}/cancel`);
    expect([cancelled.status, (await stage.operation(cancelled)).settled_by, await stage.publications(post.id)]).toEqual(['failed', 'service', 0]);
    return stage.told(Caller.state(post, stage.twitter), Caller.state(cancelled, stage.twitter), post.id);
  },
  'publishing | cancel | operation sending': async (stage) => {
    const post = await stage.create('now', '[[sandbox:late=2]]');
    await stage.sending(post);
    const going = await stage.change('post', `/v1/posts/${post.id}/cancel`);
    const published = await stage.reached(post.id, 'published');
    return stage.told(Caller.state(going, stage.twitter), Caller.state(published, stage.twitter), post.id);
  },
  'publishing | DELETE | operation still pending': async (stage) => {
    const post = await stage.waiting((await stage.create('now', WAITS)).id, 'provider_wait');
    await deleted(stage, post);
    expect([(await stage.operation(post)).status, await stage.publications(post.id)]).toEqual(['failed', 0]);
    return stage.told(Caller.state(post, stage.twitter), await stage.logged(post), post.id);
  },
  'publishing | DELETE | operation sending': async (stage) => {
    const post = await stage.create('now', '[[sandbox:late=2]]');
    await stage.sending(post);
    const { from } = await deleted(stage, post);
    await settled(stage, post, 'succeeded');
    return stage.told(from, await stage.logged(post), post.id);
  },
  [`${UNKNOWN} | probe | happened`]: async (stage) => {
    const post = await stage.reached((await stage.create('now', '[[sandbox:drop-after]]')).id, UNKNOWN);
    const published = await stage.reached(post.id, 'published');
    expect([(await stage.operation(published)).settled_by, published.status, await stage.publications(post.id)]).toEqual(['probe', 'published', 1]);
    return stage.told(Caller.state(post, stage.twitter), Caller.state(published, stage.twitter), post.id);
  },
  [`${UNKNOWN} | probe | did not happen`]: async (stage) => {
    const post = await stage.reached((await stage.create('now', '[[sandbox:drop-before]]')).id, UNKNOWN);
    await until('the platform is believed', async () => {
      await putAbsenceBack(stage.system, stage.target(post).operation_id);
      return (await stage.state(post.id)) !== UNKNOWN;
    });
    const failed = await stage.reached(post.id, 'failed PROVIDER_PROVED_ABSENT');
    expect([(await stage.operation(failed)).settled_by, failed.targets[stage.twitter].error.retryable]).toEqual(['probe', true]);
    return stage.told(Caller.state(post, stage.twitter), Caller.state(failed, stage.twitter), post.id);
  },
  [`${UNKNOWN} | verdict | happened`]: (stage) => decided(stage, LOST, 'published'),
  [`${UNKNOWN} | verdict | did not happen`]: (stage) => decided(stage, NOT_DONE, 'not_published'),
  'failed CONTENT_REJECTED | retry | not unknown': async (stage) => {
    const post = await stage.reached((await stage.create('now', '[[sandbox:refuse]]')).id, 'failed CONTENT_REJECTED');
    const first = await stage.operation(post);
    const again = await stage.change('post', `/v1/posts/${post.id}/retry`);
    expect([stage.target(again).attempt, stage.target(again).operation_id === first.id]).toEqual([2, false]);
    // Told before it ends: the word has acted once, so the second attempt goes through.
    const told = { from: Caller.state(post, stage.twitter), to: Caller.state(again, stage.twitter), events: ['post.created', 'post.failed'] };
    const published = await stage.reached(post.id, 'published');
    expect(await stage.events(post.id)).toEqual([...told.events, 'post.published']);
    expect((await stage.operation(published)).previous_operation_id).toBe(first.id);
    return told;
  },
  'publishing | waiting goes past the catch-up limit | hold, nothing of the post sent': (stage) => pastTheLimit(stage, 'hold', 'draft'),
  'publishing | waiting goes past the catch-up limit | hold, some of the post sent': async (stage) => {
    const options = { target_options: { [stage.mastodon]: { content: fresh() } } };
    return pastTheLimit(stage, 'hold', 'failed SCHEDULE_MISSED', { targets: [stage.twitter, stage.mastodon], ...options });
  },
  'publishing | waiting goes past the catch-up limit | skip': (stage) => pastTheLimit(stage, 'skip', 'failed SCHEDULE_MISSED'),
  'published | DELETE | ': async (stage) => deleted(stage, await stage.reached((await stage.create('now')).id, 'published')),
  'failed CONTENT_REJECTED | DELETE | ': async (stage) => deleted(stage, await stage.reached((await stage.create('now', '[[sandbox:refuse]]')).id, 'failed CONTENT_REJECTED')),
  [`${UNKNOWN} | DELETE | `]: async (stage) => {
    const post = await stage.reached((await stage.create('now', LOST)).id, UNKNOWN);
    const told = await deleted(stage, post);
    // It stays open, and a person can still decide about it.
    await stage.verdict(await stage.operation(post), 'published');
    expect((await stage.operation(post)).status).toBe('succeeded');
    return told;
  },
};

/** The carrier has the platform's answer in its hands while others take the outcome for lost, and a person decides. */
export const LATE_ANSWERS: Record<string, (stage: Stage) => Promise<Story>> = {
  [`${UNKNOWN} | late answer | happened`]: (stage) => late(stage, '[[sandbox:hide-listing]]', async (post) => {
    const published = await stage.reached(post.id, 'published');
    expect((await stage.operation(published)).settled_by).toBe('late_answer');
    return Caller.state(published, stage.twitter);
  }),
  [`${UNKNOWN} | late answer | did not happen`]: (stage) => late(stage, '[[sandbox:refuse]] [[sandbox:hide-listing]]', async (post) => {
    const failed = await stage.reached(post.id, 'failed CONTENT_REJECTED');
    expect((await stage.operation(failed)).settled_by).toBe('late_answer');
    return Caller.state(failed, stage.twitter);
  }),
  'failed VERDICT_DID_NOT_HAPPEN | proof of success | no newer attempt open or succeeded': (stage) => late(stage, '[[sandbox:hide-listing]]', async (post) => {
    const published = await stage.reached(post.id, 'published');
    const operation = await stage.operation(published);
    const { data: [verdict] } = (await stage.caller.get(`/v1/operations/${operation.id}/verdicts`)).body;
    expect([operation.settled_by, verdict.state]).toEqual(['late_answer', 'contradicted']);
    return Caller.state(published, stage.twitter);
  }, async (post) => stage.verdict(await stage.operation(post), 'not_published')),
  'published | proof of success of an earlier attempt | newer attempt succeeded': (stage) => late(stage, '[[sandbox:hide-listing]]', async (post) => {
    const operation = await settled(stage, post, 'succeeded');
    const after = await stage.post(post.id);
    const newer = stage.target(after);
    // Both stay readable as two publications; the target shows the one that it had.
    expect([operation.settled_by, newer.operation_id === operation.id, newer.attempt]).toEqual(['late_answer', false, 2]);
    expect(newer.platform_post_id).not.toBe(operation.result.platform_post_id);
    return Caller.state(after, stage.twitter);
  }, async (post) => {
    await stage.verdict(await stage.operation(post), 'not_published');
    await stage.change('post', `/v1/posts/${post.id}/retry`);
    await stage.reached(post.id, 'published');
  }),
};

async function late(stage: Stage, words: string, end: (post: any) => Promise<string>, meanwhile: (post: any) => Promise<void> = async () => {}): Promise<Story> {
  const { post, held } = await stage.caughtWithTheAnswer(words);
  return async () => {
    const carrier = await held;
    await stage.reached(post.id, UNKNOWN);
    await meanwhile(post);
    const from = await stage.state(post.id);
    carrier.release();
    return stage.told(from, await end(post), post.id);
  };
}

async function waits(stage: Stage, post: any, reason: string): Promise<Told> {
  const waiting = await stage.waiting(post.id, reason);
  expect([waiting.status, stage.target(waiting).waiting_until > waiting.created_at, await stage.publications(post.id)]).toEqual(['publishing', true, 0]);
  return stage.told(Caller.state(post, stage.twitter), Caller.state(waiting, stage.twitter), post.id);
}

async function decided(stage: Stage, words: string, outcome: 'published' | 'not_published'): Promise<Told> {
  const unknown = await stage.reached((await stage.create('now', words)).id, UNKNOWN);
  await stage.verdict(await stage.operation(unknown), outcome);
  const after = await stage.post(unknown.id);
  expect((await stage.operation(after)).settled_by).toBe('verdict');
  if (outcome === 'not_published') expect(after.targets[stage.twitter].error.retryable).toBe(true);
  return stage.told(Caller.state(unknown, stage.twitter), Caller.state(after, stage.twitter), unknown.id);
}

/** The platform asks for more patience than the post has. */
async function pastTheLimit(stage: Stage, onLate: string, to: string, more: Record<string, unknown> = {}): Promise<Told> {
  const post = await stage.create('now', '[[sandbox:twitter:rate-limit=6]]', { catch_up: { max_lateness_seconds: 3, on_late: onLate }, ...more });
  const ended = await stage.reached(post.id, to);
  const operation = await stage.operation(ended);
  expect([operation.status, (await stage.caller.ledger({ target_id: stage.target(post).target_id })).length]).toEqual(['failed', 0]);
  return stage.told(Caller.state(post, stage.twitter), Caller.state(ended, stage.twitter), post.id);
}

async function settled(stage: Stage, post: any, status: string): Promise<any> {
  return until(`the operation is ${status}`, async () => {
    const operation = await stage.operation(post);
    return operation.status === status ? operation : null;
  });
}
