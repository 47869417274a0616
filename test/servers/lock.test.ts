import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeLock } from '../../infra/servers/lock.ts';
import { refOf } from '../../infra/servers/process-identity.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oncepost-lock-'));
  file = join(folder, 'lock');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('a lock is held until it is released', async () => {
  const lock = await takeLock(file);
  expect(await takeLock(file)).toEqual({ heldBy: refOf(process.pid) });
  if ('release' in lock) await lock.release();
  expect(await takeLock(file)).toHaveProperty('release');
});

test('a lock of a living process is respected', async () => {
  await writeFile(file, JSON.stringify(refOf(process.ppid)));
  expect(await takeLock(file)).toEqual({ heldBy: refOf(process.ppid) });
});

test.each([
  ['a dead process', JSON.stringify({ pid: 4_194_305, identity: 'gone' })],
  ['a process whose number another one has now', JSON.stringify({ pid: process.ppid, identity: 'an earlier one' })],
  ['a writer that died in the middle', '{"pid":'],
])('a lock of %s is taken over', async (_whose, text) => {
  await writeFile(file, text);
  expect(await takeLock(file)).toHaveProperty('release');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(refOf(process.pid));
});
