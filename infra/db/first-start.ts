import { readConfig } from '../config/config.ts';
import { Secrets } from '../config/secrets.ts';
import { createApiKey, createOrganization, openSandboxAccount, sandboxPlatforms } from '../organizations.ts';
import { openDatabase } from './database.ts';
import { OrganizationEntity } from './entities/organization.entity.ts';
import { inScope, SYSTEM } from './tenant.ts';

export interface FirstKeys {
  organization_id: string;
  live_key: string;
  test_key: string;
  sign_in_code: string | null;
}

/** On an empty database: organization `Default` with a live and a test key and its sandbox accounts, in one transaction. Null when there are organizations. */
export async function ensureFirstOrganization(source: NodeJS.ProcessEnv): Promise<FirstKeys | null> {
  const foundation = { config: readConfig(source), secrets: new Secrets(source) };
  const db = await openDatabase({ url: foundation.secrets.databaseUrl, pool: 2 });
  try {
    return await inScope(db, SYSTEM, async (tx) => {
      await tx.execute('select pg_advisory_xact_lock(4400, 2)');
      if ((await tx.count(OrganizationEntity)) > 0) return null;
      const now = new Date();
      const organization = createOrganization(tx, { name: 'Default', slug: 'default' }, now);
      await tx.flush();
      const live = createApiKey(tx, foundation.secrets, { organizationId: organization.id, mode: 'live', name: 'First live key' }, now);
      const test = createApiKey(tx, foundation.secrets, { organizationId: organization.id, mode: 'test', name: 'First test key' }, now);
      if (foundation.config.sandbox.enabled) {
        for (const platform of await sandboxPlatforms(foundation)) await openSandboxAccount(tx, foundation, { organizationId: organization.id, platform, ordinal: 1 }, now);
      }
      return { organization_id: organization.id, live_key: live.key, test_key: test.key, sign_in_code: null };
    });
  } finally {
    await db.close(true);
  }
}
