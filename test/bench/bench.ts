import { postsAtRest } from './at-rest.ts';
import { Commits } from './commits.ts';
import { postsDueAtOnce } from './due.ts';
import { acceptToCall } from './latency.ts';
import { readOptions, type Options } from './options.ts';
import { benchReads } from './reads.ts';
import { summaryOf, tableOf, type Measured } from './report.ts';
import { bareRound, productRound, type Round } from './rounds.ts';
import { startSetting, type Setting } from './setting.ts';
import { median } from './stats.ts';

/*
 * npm run bench [-- --posts 60 --concurrency 30 --rounds 5 --scheduled 1000 --profile folder]
 * npm run bench -- --reads [--rounds 5]: reads on few and on many posts, see reads.ts.
 * npm run bench -- --due 5000: posts that come due in the same second, and how late they make other organizations' posts.
 * The whole product against a bare workflow on the same servers, in one run, in turns.
 */

const IDLE_MS = 5_000;
const LONE_POSTS = 40;
const CROWD = 120;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function inTurns(setting: Setting, options: Options): Promise<Pick<Measured, 'product' | 'bare'>> {
  const product: Round[] = [];
  const bare: Round[] = [];
  for (let n = 0; n <= options.rounds; n++) {
    // Who goes first changes, so that a load that grows or falls favours nobody.
    const sides = [async () => product.push(await productRound(setting, options)), async () => bare.push(await bareRound(setting, options))];
    for (const side of n % 2 === 0 ? sides : sides.toReversed()) await side();
    say(`round ${n}${n === 0 ? ' (warm-up)' : ''}: product ${product.at(-1)!.perSecond.toFixed(1)}/s, bare ${bare.at(-1)!.perSecond.toFixed(1)}/s`);
  }
  return { product: product.slice(1), bare: bare.slice(1) };
}

async function eventsOf({ system }: Setting, workflowIds: readonly string[]): Promise<number> {
  const lengths = await Promise.all(workflowIds.slice(0, 30).map(async (id) => (await system.client.workflow.getHandle(id).describe()).historyLength));
  return median(lengths);
}

async function measure(setting: Setting, options: Options): Promise<Measured> {
  const rounds = await inTurns(setting, options);
  say('latency …');
  const alone = await acceptToCall(setting, LONE_POSTS, 1);
  const crowded = await acceptToCall(setting, CROWD, 30);
  say('commits …');
  const commits = new Commits(setting.system);
  await commits.measureIdle(IDLE_MS);
  const perPost = await commits.per(options.posts, () => productRound(setting, options));
  const events = { product: await eventsOf(setting, rounds.product[0]!.workflowIds), bare: await eventsOf(setting, rounds.bare[0]!.workflowIds) };
  if (options.scheduled > 0) say(`${options.scheduled} scheduled posts …`);
  const atRest = options.scheduled > 0 ? await postsAtRest(setting, options.scheduled) : null;
  return { ...rounds, alone, crowded, commits: perPost, events, atRest };
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.reads) return benchReads({ rounds: options.rounds, say });
  say('starting PostgreSQL, Temporal, the sandbox, API and workers …');
  const setting = await startSetting(options);
  try {
    if (options.due > 0) return say(JSON.stringify(await postsDueAtOnce(setting, options.due, say)));
    const summary = summaryOf(await measure(setting, options));
    say(`\n${tableOf(summary)}\n\n${JSON.stringify(summary)}`);
  } finally {
    await setting.stop();
  }
}

await main();
