import { randomBytes } from 'node:crypto';
import type { Account } from '../../../infra/db/entities/account.entity.ts';
import type { Platform } from '../../../infra/contract/platforms.ts';
import { sandboxAdmin } from '../../../infra/sandbox-admin.ts';
import { silentLog } from '../../../providers/sandbox/log.ts';
import { openSandbox } from '../../../providers/sandbox/open.ts';
import { startApi, type TestApi } from '../../support/api.ts';
import { freshDatabase } from '../../support/database.ts';
import { account } from '../../support/factories.ts';
import { freePort } from '../../support/servers.ts';

/** The API beside a sandbox with a store of its own. */
export interface PlayedApi extends TestApi {
  /** An account that both know, and the token that opens it at the sandbox. */
  play(options: { organizationId: string; platform?: Platform; workspaceId?: string }): Promise<Played>;
  /** Sends what an adapter would, in the name of an operation. */
  tweet(played: Played, text: string, operationId?: string, step?: string): Promise<{ id: string; status: number }>;
}

export interface Played {
  account: Account;
  accessToken: string;
}

export async function startPlayedApi(): Promise<PlayedApi> {
  const database = await freshDatabase();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const api = await startApi({ env: { SANDBOX_URL: url } });
  const { baseUrl } = api.infra.config;
  const sandbox = await openSandbox({ settings: { baseUrl, url, latencyMs: 0, duplicates: false, secret: api.infra.secrets.sandboxSecret }, databaseUrl: database.url, host: '127.0.0.1', port, log: silentLog });
  return {
    ...api,
    async play({ organizationId, platform = 'twitter', workspaceId }) {
      const row = await account(api.infra, { organizationId, platform, workspaceId: workspaceId ?? null });
      const accessToken = `sandbox-${row.id.slice(4)}-1-${randomBytes(12).toString('hex')}`;
      await sandboxAdmin(api.infra).putAccount({
        id: row.id, organization_id: organizationId, platform, platform_account_id: row.platformAccountId, username: row.username!, display_name: 'Sand & Box',
        behaviour: 'normal', generation: 1, accessToken, refreshToken: null,
      });
      return { account: row, accessToken };
    },
    async tweet({ accessToken }, text, operationId, step = 'publish') {
      const response = await fetch(`${url}/twitter/api/2/tweets`, {
        method: 'POST', body: JSON.stringify({ text }),
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', ...(operationId === undefined ? {} : { 'x-oncepost-trace': `${operationId};${step};1` }) },
      });
      const { data } = (await response.json()) as { data?: { id: string } };
      return { id: data?.id ?? '', status: response.status };
    },
    async close() {
      await api.close();
      await sandbox.close();
      await database.release();
    },
  };
}
