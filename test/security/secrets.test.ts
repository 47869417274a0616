import { expect, test } from '@jest/globals';
import { CredentialEntity } from '../../infra/db/entities/credential.entity.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import { Secrets } from '../../infra/config/secrets.ts';
import { unseal } from '../../infra/crypto/envelope.ts';
import { credentialPlace } from '../../infra/crypto/places.ts';
import { Caller } from '../support/caller.ts';
import type { System, Tenant } from '../support/system.ts';
import { until } from '../support/until.ts';
import { useWholeSystem } from '../support/whole-system.ts';

/* Secrets are driven through every flow there is, and then searched for in every place where they could have ended up. */

const CONTENT = 'the quick canary fox';

let system: System;
let tenant: Tenant;
let caller: Caller;
useWholeSystem((whole) => {
  ({ system, tenant, caller } = whole);
}, { LOG_LEVEL: 'debug' });

/** Access and refresh tokens, before and after the platform renewed them. */
async function tokens(): Promise<string[]> {
  const { encryptionKeys } = new Secrets(system.env);
  const rows = await inScope(system.db, SYSTEM, (tx) => tx.find(CredentialEntity, { organizationId: tenant.organizationId }));
  return rows.flatMap((row) => Object.values(JSON.parse(unseal(encryptionKeys, credentialPlace(row), Buffer.from(row.sealed)).toString()) as Record<string, string>));
}

async function drive(): Promise<void> {
  const targets = [tenant.accounts.twitter!.id, tenant.accounts.mastodon!.id];
  const words = ['', '[[sandbox:expired]]', '[[sandbox:refuse]]', '[[sandbox:garble]]', '[[sandbox:no-id]]', '[[sandbox:drop-before]]', '[[sandbox:500-after]]'];
  const posts = await Promise.all(words.map((word) => caller.publish({ targets, content: `${CONTENT} ${word}` })));
  for (const post of posts) await until(`${post.id} was answered`, async () => ((await caller.get(`/v1/posts/${post.id}`)).body.status !== 'publishing' ? true : null));
  await caller.publish({ targets, content: CONTENT, scheduled_at: new Date(Date.now() + 3_600_000).toISOString(), notes: CONTENT });
  await caller.post('/v1/posts', `{"content": "${CONTENT}", "broken`);
  await caller.post('/v1/posts', { content: CONTENT, nonsense: CONTENT });
  await new Caller(system.baseUrl, `${tenant.testKey}x`).get('/v1/posts');
}

async function histories(): Promise<string> {
  let text = '';
  for await (const run of system.client.workflow.list({ query: `OrganizationId = '${tenant.organizationId}'` })) {
    const execution = { workflowId: run.workflowId, runId: run.runId };
    const { history } = await system.client.workflowService.getWorkflowExecutionHistory({ namespace: 'default', execution });
    text += JSON.stringify(history, (_key, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value));
    text += JSON.stringify(run.memo ?? {});
  }
  return text;
}

async function database(): Promise<string> {
  return inScope(system.db, SYSTEM, async (tx) => {
    const tables = await tx.execute<{ name: string }[]>(`select tablename as name from pg_tables where schemaname = 'oncepost' and tablename <> 'mikro_orm_migrations'`);
    const texts: string[] = [];
    for (const { name } of tables) texts.push(...(await tx.execute<{ row: string }[]>(`select t::text as row from ${name} t`)).map((one) => one.row));
    return texts.join('\n');
  });
}

test('no secret is found in clear anywhere, and no content outside the database', async () => {
  const before = await tokens();
  await drive();
  const secrets = [...before, ...(await tokens()), tenant.testKey, tenant.liveKey, system.env.SANDBOX_SECRET!, new URL(system.env.DATABASE_URL!).password, ...['ONCEPOST_PEPPERS', 'ONCEPOST_ENCRYPTION_KEYS', 'ONCEPOST_CURSOR_KEYS'].map((name) => system.env[name]!.split(':')[1]!)];
  expect(new Set(before).size).toBeGreaterThanOrEqual(3);
  const sinks: Record<string, string> = {
    'log of the API': system.api.output, 'log of the worker': system.worker.output, 'log of the sandbox': system.sandbox.output,
    'histories in Temporal': await histories(), 'our tables': await database(),
  };
  const found = Object.entries(sinks).flatMap(([sink, text]) => secrets.filter((secret) => text.includes(secret)).map((secret) => `${sink}: ${secret.slice(0, 12)}…`));
  expect(found).toEqual([]);
  expect(sinks['histories in Temporal']).toContain('carryOut');
  for (const sink of ['log of the API', 'log of the worker', 'log of the sandbox', 'histories in Temporal']) expect([sink, sinks[sink]!.includes('canary')]).toEqual([sink, false]);
}, 120_000);
