import { LockMode } from '@mikro-orm/core';
import { seal } from '../../infra/crypto/envelope.ts';
import { credentialPlace } from '../../infra/crypto/places.ts';
import { AccountEntity } from '../../infra/db/entities/account.entity.ts';
import { CredentialEntity } from '../../infra/db/entities/credential.entity.ts';
import { inScope, tenant } from '../../infra/db/tenant.ts';
import { TransportFailure } from '../../infra/http/types.ts';
import { requireReconnect } from '../../infra/ledger/reconnect.ts';
import type { Provider, RefreshAnswer } from '../../providers/provider.ts';
import type { ActivityDeps } from '../deps.ts';
import { accountView, endpointsOf, openCredential, type Loaded } from './load.ts';
import { plainPort } from './port.ts';

export type Refreshed = 'fresh' | 'busy' | 'again' | 'refused';

const REFRESH_CLAIM_MS = 30_000;
/** Any client id is good enough for the sandbox. */
const SANDBOX_APPLICATION = { clientId: 'oncepost-sandbox', clientSecret: null };
/** A rotating refresh token whose answer was lost twice is lost. */
const REFRESHES_LOST_MAX = 2;

/**
 * Renews the credential that the platform refused. One refresh at a time per account, guarded by a claim on the
 * credential's row; who finds a newer generation uses that. Dying after the request may cost the only valid token: a
 * second try with the old one follows, then a person has to connect again.
 */
export async function refreshCredential(deps: ActivityDeps, loaded: Loaded, provider: Provider): Promise<Refreshed> {
  const { account, credential, operation } = loaded;
  if (credential === null) return 'refused';
  // Nothing to renew: the refusal proves that nothing was done, so the same credential is tried once more.
  if (provider.refresh === undefined) return 'fresh';
  const taken = await takeRefresh(deps, loaded);
  if (taken !== 'mine') return taken;
  const work = { account: accountView(account), credential: openCredential(deps, credential), endpoints: endpointsOf(deps, account), application: account.mode === 'test' ? SANDBOX_APPLICATION : null };
  try {
    return await store(deps, loaded, await provider.refresh(work, plainPort(deps, loaded, { operation, step: 'refresh' })));
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    return store(deps, loaded, error.sent ? { kind: 'unclear' } : null);
  }
}

async function takeRefresh({ infra }: ActivityDeps, { account, credential }: Loaded): Promise<Refreshed | 'mine'> {
  const now = infra.clock.now();
  return inScope(infra.db, tenant(account), async (tx) => {
    const row = await tx.findOne(CredentialEntity, { accountId: account.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (row === null) return 'refused';
    if (row.generation !== credential!.generation) return 'fresh';
    if (row.refreshingUntil && row.refreshingUntil > now) return 'busy';
    row.refreshingUntil = new Date(now.getTime() + REFRESH_CLAIM_MS);
    return 'mine';
  });
}

/** Stores what the refresh brought, unless a newer credential has come meanwhile. `null` = proven not sent. */
async function store({ infra }: ActivityDeps, { account, credential }: Loaded, answer: RefreshAnswer | null): Promise<Refreshed> {
  const now = infra.clock.now();
  return inScope(infra.db, tenant(account), async (tx) => {
    // The account before its credential, as everybody who holds both.
    await tx.execute('select id from account where id = ? for update', [account.id]);
    const row = await tx.findOneOrFail(CredentialEntity, { accountId: account.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (row.generation !== credential!.generation) return 'fresh';
    row.refreshingUntil = null;
    if (answer === null) return 'again';
    if (answer.kind === 'renewed') {
      const generation = row.generation + 1;
      Object.assign(row, { generation, sealed: seal(infra.secrets.encryptionKeys, credentialPlace(row), Buffer.from(JSON.stringify(answer.credential))), expiresAt: answer.expiresAt, refreshesLost: 0, updatedAt: now });
      await tx.nativeUpdate(AccountEntity, { id: account.id }, { credentialGeneration: generation, updatedAt: now });
      return 'fresh';
    }
    const lostBefore = row.refreshesLost;
    if (answer.kind === 'unclear') row.refreshesLost += 1;
    if (answer.kind === 'unclear' && row.refreshesLost < REFRESHES_LOST_MAX) return 'again';
    const reason = answer.kind === 'unclear' || lostBefore > 0 ? 'refresh_outcome_unknown' : 'refresh_refused';
    await requireReconnect(tx, account.id, { reason, generation: row.generation, now });
    return 'refused';
  });
}
