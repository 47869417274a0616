import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['api', 'workflows', 'activities', 'workers', 'providers', 'infra'];

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

const files = FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))));

const imports: Import[] = files.flatMap((from) => [...readFileSync(join(ROOT, from), 'utf8').matchAll(/^\s*(?:import|export)\s(type\s)?(?:[^'";]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gms)]
  .map(([, type, target, dynamic]) => ({ from, to: (target ?? dynamic)!, typeOnly: type !== undefined }))
  .filter(({ to }) => to.startsWith('.'))
  .map((one) => ({ ...one, to: relative(ROOT, join(ROOT, dirname(one.from), one.to)) })));

const inFolder = (file: string, folder: string) => file.startsWith(`${folder}/`);
const ownFolder = (a: string, b: string, depth: number) => a.split('/').slice(0, depth).join('/') === b.split('/').slice(0, depth).join('/');

/** The import table of the architecture: who may import what. */
const RULES: { name: string; of: (file: string) => boolean; may: (one: Import) => boolean }[] = [
  { name: 'infra/contract imports nothing but itself', of: (f) => inFolder(f, 'infra/contract'), may: ({ to }) => inFolder(to, 'infra/contract') },
  { name: 'infra imports infra', of: (f) => inFolder(f, 'infra'), may: ({ to }) => inFolder(to, 'infra') },
  {
    name: 'the sandbox imports the contract, config, log and itself',
    of: (f) => inFolder(f, 'providers/sandbox'),
    may: ({ to }) => inFolder(to, 'providers/sandbox') || inFolder(to, 'infra/contract') || inFolder(to, 'infra/config') || inFolder(to, 'infra/log') || to === 'infra/servers/parent.ts',
  },
  {
    name: 'an adapter imports the contract, the outbound types, the interface, what adapters share, and its own folder',
    of: (f) => inFolder(f, 'providers') && !inFolder(f, 'providers/sandbox') && f.split('/').length > 2,
    may: ({ from, to }) => inFolder(to, 'infra/contract') || to === 'infra/http/types.ts' || to === 'providers/provider.ts' || inFolder(to, 'providers/common') || ownFolder(from, to, 2),
  },
  {
    name: 'providers import infra/contract, types of infra/http, and providers',
    of: (f) => inFolder(f, 'providers') && f.split('/').length === 2,
    may: ({ to }) => (inFolder(to, 'providers') && !inFolder(to, 'providers/sandbox')) || inFolder(to, 'infra/contract') || to === 'infra/http/types.ts',
  },
  {
    name: 'activities import infra, the names of workflows, and of providers the interface and where they are',
    of: (f) => inFolder(f, 'activities') && f.split('/').length > 2,
    may: ({ from, to }) => inFolder(to, 'infra') || to === 'workflows/names.ts' || to === 'activities/deps.ts' || ['providers/provider.ts', 'providers/endpoints.ts', 'providers/registry.ts'].includes(to) || ownFolder(from, to, 2),
  },
  {
    name: 'the root of activities joins their groups',
    of: (f) => inFolder(f, 'activities') && f.split('/').length === 2,
    may: ({ to }) => inFolder(to, 'infra') || inFolder(to, 'activities') || to === 'workflows/names.ts' || to === 'providers/provider.ts',
  },
  {
    name: 'workflows import the contract, workflows, and types of activities',
    of: (f) => inFolder(f, 'workflows'),
    may: ({ to, typeOnly }) => inFolder(to, 'infra/contract') || inFolder(to, 'workflows') || (inFolder(to, 'activities') && typeOnly),
  },
  { name: 'workers import everything but the API, and workflows by path', of: (f) => inFolder(f, 'workers'), may: ({ to }) => !inFolder(to, 'api') && (!inFolder(to, 'workflows') || to === 'workflows/names.ts') },
  {
    name: 'the API imports infra, the catalog of providers, the names of workflows, and itself',
    of: (f) => inFolder(f, 'api'),
    may: ({ to }) => inFolder(to, 'infra') || inFolder(to, 'api') || to === 'providers/catalog.ts' || to === 'workflows/names.ts' || /^providers\/[^/]+\/connect\.ts$/.test(to),
  },
];

test.each(RULES)('$name', ({ of, may }) => {
  const rule = RULES.find((one) => one.of === of)!;
  const first = (file: string) => RULES.find((one) => one.of(file)) === rule;
  const broken = imports.filter((one) => first(one.from) && !may(one)).map(({ from, to }) => `${from} → ${to}`);
  expect(broken).toEqual([]);
});

test('no file imports itself by way of others', () => {
  const graph = new Map<string, string[]>();
  for (const { from, to, typeOnly } of imports) if (!typeOnly) graph.set(from, [...(graph.get(from) ?? []), to]);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: string[]) => {
    if (trail.includes(file)) cycles.push([...trail.slice(trail.indexOf(file)), file].join(' → '));
    if (done.has(file) || trail.includes(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(cycles).toEqual([]);
});

test('transactions are opened in inScope() and nowhere else', () => {
  const openers = files.filter((file) => /\.transactional\(|\.em\.fork\(|\.em\.begin\(|getConnection\(\)/.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(openers.toSorted()).toEqual(['infra/db/migrate.ts', 'infra/db/tenant.ts']);
});

test('the environment is read by process entries and nobody else', () => {
  const readers = files.filter((file) => /process\.env\b/.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(readers.filter((file) => !/^(?:api\/server|workers\/main|providers\/sandbox\/server|infra\/db\/migrate|infra\/servers\/[a-z-]+)\.ts$/.test(file))).toEqual([]);
});

test('every file has one purpose and a name that says it', () => {
  const long = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 401);
  expect(long).toEqual([]);
  expect(files.filter((file) => /(?:utils?|helpers?|manager|misc|common)\.ts$/.test(file))).toEqual([]);
  expect(files.filter((file) => !/^[a-z0-9./-]+\.ts$/.test(file) && !/\/Migration\d+\.ts$/.test(file))).toEqual([]);
});
