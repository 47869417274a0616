import * as fc from 'fast-check';
import { WORDS, type OnLate, type Word } from './model.ts';
import * as requests from './requests.ts';
import type { Run } from './run.ts';
import { time } from './time.ts';

/** One thing that happens. Which post, operation or carrier it happens to is a number, taken among those that are there. */
class Happening<T> implements fc.AsyncCommand<object, Run> {
  readonly #name: string;
  readonly #given: T;
  readonly #happen: (run: Run, given: T) => Promise<void> | undefined;

  constructor(name: string, given: T, happen: (run: Run, given: T) => Promise<void> | undefined) {
    this.#name = name;
    this.#given = given;
    this.#happen = happen;
  }

  check = () => true;

  async run(_model: object, run: Run): Promise<void> {
    await this.#happen(run, this.#given);
  }

  toString = () => `${this.#name} ${JSON.stringify(this.#given)}`;
}

/** Undefined when there is nothing that it could happen to. */
function happening<T>(name: string, given: fc.Arbitrary<T>, happen: (run: Run, given: T) => Promise<void> | undefined): fc.Arbitrary<fc.AsyncCommand<object, Run>> {
  return given.map((one) => new Happening(name, one, happen));
}

const at = <T>(list: readonly T[], which: number): T | undefined => list[which % list.length];
/** The newest are where most happens. */
const recent = <T>(list: readonly T[], which: number): T | undefined => at(list.slice(-6), which);
const on = <T>(item: T | undefined, happen: (item: T) => Promise<void>): Promise<void> | undefined => (item === undefined ? undefined : happen(item));

const which = fc.nat(1_000);
const word = fc.oneof({ weight: 3, arbitrary: fc.constant<Word>('none') }, { weight: 5, arbitrary: fc.constantFrom(...(Object.keys(WORDS) as Word[])) });
const target = fc.record({ account: fc.nat(2), word, hides: fc.integer({ min: 0, max: 9 }).map((n) => n === 9) });
const targets = fc.array(target, { minLength: 1, maxLength: 3 });
const when = fc.oneof(fc.constantFrom<requests.When>('now', 'now', 'late', 'draft'), fc.constantFrom<requests.When>(5, 60, 3_600));
const wish = fc.record({ when, targets, onLate: fc.constantFrom<OnLate>('publish', 'skip', 'hold'), maxLatenessSeconds: fc.constantFrom(0, 60, 86_400, 86_400), twice: fc.integer({ min: 0, max: 9 }).map((n) => n === 0) });
const patch: fc.Arbitrary<requests.Patch> = fc.oneof(
  fc.constantFrom<requests.Patch>({ kind: 'nothing' }, { kind: 'notes' }, { kind: 'stale' }),
  fc.record({ kind: fc.constant('texts' as const), word }),
  fc.record({ kind: fc.constant('time' as const), when }),
  fc.record({ kind: fc.constant('targets' as const), targets }),
);

const create = happening('create', wish, (run, wish) => requests.create(run, wish));
const change = happening('patch', fc.record({ which, patch }), (run, given) => on(recent(run.world.posts, given.which), (post) => requests.patch(run, post, given.patch)));
const retry = happening('retry', fc.record({ which, named: fc.option(fc.array(fc.nat(2), { minLength: 1, maxLength: 2 }), { freq: 2 }) }), (run, given) => on(recent(run.world.posts, given.which), (post) => requests.retry(run, post, given.named)));
const cancel = happening('cancel', which, (run, which) => on(recent(run.world.posts, which), (post) => requests.cancel(run, post)));
const remove = happening('delete', which, (run, which) => on(recent(run.world.posts, which), (post) => requests.remove(run, post)));
const verdict = happening('verdict', fc.record({ which, happened: fc.boolean(), isStale: fc.integer({ min: 0, max: 9 }).map((n) => n === 0), again: fc.boolean() }), (run, given) => {
  const unknown = run.world.operations.filter((one) => one.status === 'unknown');
  return on(recent(unknown.length > 0 && given.which % 4 > 0 ? unknown : run.world.operations, given.which), (operation) => requests.verdict(run, operation, given));
});

/** The due time of a post comes, or the workflow of an older generation wakes. */
const begin = happening('begin', fc.record({ which, ago: fc.constantFrom(0, 0, 0, 1) }), (run, given) => {
  const waiting = run.world.posts.filter((post) => post.status === 'scheduled');
  return on(recent(waiting.length > 0 ? waiting : run.world.posts, given.which), (post) => requests.begin(run, post, Math.max(1, post.seq - given.ago)));
});
const tick = happening('tick', fc.constantFrom(1_000, 1_000, 1_000, 5_000, 5_000, 30_000, 30_000, 30_000, 65_000, 95_000, 600_000, 7 * 3_600_000), (_run, ms) => Promise.resolve(time.pass(ms)));
const outage = happening('outage', fc.boolean(), (run, isDown) => Promise.resolve(void (run.system.line.isDown = isDown)));

/** Somebody takes an operation up: its workflow, the sweeper, or a second worker that takes the first for dead. */
const takeUp = (run: Run, which: number) => {
  const open = run.world.operations.filter((one) => one.status === 'pending' || one.status === 'sending');
  return on(recent(open.length > 0 && which % 8 > 0 ? open : run.world.operations, which), (operation) => run.carry(operation));
};
const carry = happening('carry', which, takeUp);
const step = happening('step', which, (run, which) => (run.carriers.length === 0 ? takeUp(run, which) : run.step(which % run.carriers.length)));
/** A worker stands still in the middle of a call until it is taken for dead, and another comes to where it was. */
const overtake = happening('overtake', which, (run, which) => {
  const holding = run.carriers.filter(({ model }) => model.at === 'answered');
  return on(at(holding.length > 0 ? holding : run.carriers, which), ({ model: { operation } }) => {
    time.pass(95_000);
    return run.carry(operation);
  });
});
const die = happening('die', which, (run, which) => (run.carriers.length === 0 ? undefined : run.die(which % run.carriers.length)));/** As before, and a person who takes it for not done has it sent once more, while the answer to the first request is still on its way. */
const giveUp = happening('give up', which, (run, which) => on(at(run.carriers.filter(({ model }) => model.at === 'answered'), which), async ({ model: { operation } }) => {
  time.pass(95_000);
  await run.carry(operation);
  if (operation.status !== 'unknown') return;
  await requests.verdict(run, operation, { happened: false, isStale: false, again: false });
  await requests.retry(run, operation.target.post, null);
}));

const probe = happening('probe', which, (run, which) => {
  const open = run.world.operations.filter((one) => one.nextProbeAt !== null);
  return on(recent(open.length > 0 ? open : run.world.operations, which), (operation) => run.probe(operation));
});
/** An unknown outcome is read for again and again, as its schedule has it. */
const reads = happening('reads', fc.record({ which, times: fc.integer({ min: 2, max: 5 }) }), (run, { which, times }) => on(recent(run.world.operations.filter((one) => one.status === 'unknown'), which), async (operation) => {
  for (let i = 0; i < times && operation.nextProbeAt !== null; i++) {
    time.pass(Math.max(0, operation.nextProbeAt - time.now()));
    await run.probe(operation);
  }
}));

const often = (times: number, command: fc.Arbitrary<fc.AsyncCommand<object, Run>>) => Array.from({ length: times }, () => command);

/** In about the measure in which they lead somewhere. */
export const COMMANDS = [
  ...often(6, create), ...often(2, change), ...often(2, retry), cancel, remove, ...often(2, verdict), ...often(2, begin),
  ...often(4, tick), outage, ...often(6, carry), ...often(14, step), ...often(2, overtake), giveUp, die, ...often(3, probe), ...often(2, reads),
];
