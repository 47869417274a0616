import { parseArgs } from 'node:util';

export interface Options {
  /** Workflows per round and side. */
  posts: number;
  concurrency: number;
  /** Rounds that count; one more is run before them and thrown away. */
  rounds: number;
  /** Scheduled posts to be at rest; 0 = none. */
  scheduled: number;
  /** Posts of one organization that are due in the same second; then nothing else is measured. 0 = none. */
  due: number;
  /** Folder for CPU profiles of API and worker; profiling slows both down, so its numbers are not to be kept. */
  profile: string | null;
  /** Reads on few and many posts, in place of everything else. */
  reads: boolean;
}

export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: { posts: { type: 'string' }, concurrency: { type: 'string' }, rounds: { type: 'string' }, scheduled: { type: 'string' }, due: { type: 'string' }, profile: { type: 'string' }, reads: { type: 'boolean' } },
  });
  return {
    posts: whole('posts', values.posts, 60),
    concurrency: whole('concurrency', values.concurrency, 30),
    rounds: whole('rounds', values.rounds, 5),
    scheduled: whole('scheduled', values.scheduled, 1_000),
    due: whole('due', values.due, 0),
    profile: values.profile ?? null,
    reads: values.reads ?? false,
  };
}

function whole(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} must be a whole number`);
  return value;
}
