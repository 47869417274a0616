import { readFileSync } from 'node:fs';

/*
 * Preloaded into API and worker: their calendar is ahead of the machine's by the milliseconds that the file CLOCK_FILE
 * says, so that a test can put them before a change of the clocks. Timers and servers are not touched, nor is the
 * sandbox, whose tokens would age by the way.
 */

const AS_FRESH_AS_MS = 20;
const RealDate = Date;
let aheadMs = 0;
let readAt = -Infinity;

function now() {
  const at = performance.now();
  if (at - readAt > AS_FRESH_AS_MS) {
    aheadMs = Number(readFileSync(process.env.CLOCK_FILE, 'utf8'));
    readAt = at;
  }
  return RealDate.now() + aheadMs;
}

if (!process.argv[1]?.includes('sandbox')) globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
