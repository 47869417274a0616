import type { OperationStatus } from '../../infra/contract/statuses.ts';
import { unseal } from '../../infra/crypto/envelope.ts';
import { AccountEntity, type Account } from '../../infra/db/entities/account.entity.ts';
import { CredentialEntity, type CredentialRow } from '../../infra/db/entities/credential.entity.ts';
import { OperationEntity, type Operation } from '../../infra/db/entities/operation.entity.ts';
import { PostEntity, type Post } from '../../infra/db/entities/post.entity.ts';
import { StepEntity, type Step } from '../../infra/db/entities/step.entity.ts';
import { TargetEntity, type Target } from '../../infra/db/entities/target.entity.ts';
import { columnsOf, rowOf } from '../../infra/db/joined.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';
import type { Tx } from '../../infra/db/database.ts';
import type { FinishedStep } from '../../infra/ledger/claim.ts';
import { ALONE, standingOf, type Pace, type Standing } from '../../infra/ledger/line.ts';
import { heldByOthers } from '../../infra/ledger/proof.ts';
import { credentialPlace } from '../../infra/crypto/places.ts';
import { liveEndpoints, sandboxEndpoints } from '../../providers/endpoints.ts';
import type { AccountView, Credential, Endpoints, PlannedStep, Provider, PublishWork } from '../../providers/provider.ts';
import type { ActivityDeps } from '../deps.ts';
import { declaredMedia } from './declared-media.ts';
import { paceOf } from './pace.ts';

/** Everything one turn of an operation needs, read in one transaction. For reading only: nothing of it is written back. */
export interface Loaded {
  operation: Operation;
  status: OperationStatus;
  post: Post;
  target: Target;
  account: Account;
  credential: CredentialRow | null;
  steps: Step[];
  reusable: Step[];
  /** Null where nothing keeps the account's sends apart; then its standing is not asked for. */
  pace: Pace | null;
  standing: Standing;
}

const PARTS = {
  operation: { alias: 'o', entity: OperationEntity }, post: { alias: 'p', entity: PostEntity }, target: { alias: 't', entity: TargetEntity },
  account: { alias: 'a', entity: AccountEntity }, credential: { alias: 'c', entity: CredentialEntity }, step: { alias: 's', entity: StepEntity },
} as const;

export async function load({ infra }: ActivityDeps, operationId: string): Promise<Loaded | null> {
  return inScope(infra.db, SYSTEM, async (tx) => {
    const row = await readWork(tx, operationId);
    if (row === null) return null;
    const operation = rowOf(tx, PARTS.operation, row)!;
    const account = rowOf(tx, PARTS.account, row)!;
    const steps = await readSteps(tx, operation);
    const post = rowOf(tx, PARTS.post, row)!;
    const now = infra.clock.now();
    const pace = paceOf({ account, post, operation });
    return {
      operation, status: operation.status, account, steps: steps.filter((step) => step.operationId === operation.id),
      post, target: rowOf(tx, PARTS.target, row)!, credential: rowOf(tx, PARTS.credential, row),
      reusable: steps.filter((step) => step.operationId !== operation.id && step.state === 'done' && step.effect === 'private' && !!step.usableUntil && step.usableUntil > now),
      pace, standing: pace === null || operation.status !== 'pending' ? ALONE : await standingOf(tx, account.id, pace, now),
    };
  });
}

/** One statement, because it runs for every turn of every operation. Null for operations without a target. */
async function readWork(tx: Tx, operationId: string): Promise<Record<string, unknown> | null> {
  const { operation, post, target, account, credential } = PARTS;
  const rows = await tx.execute<Record<string, unknown>[]>(
    `select ${columnsOf(tx, operation, post, target, account, credential)}
       from operation o join post p on p.id = o.post_id join target t on t.id = o.target_id join account a on a.id = o.account_id
       left join credential c on c.account_id = a.id where o.id = ?`, [operationId]);
  return rows[0] ?? null;
}

async function readSteps(tx: Tx, operation: Operation): Promise<Step[]> {
  const rows = await tx.execute<Record<string, unknown>[]>(`select ${columnsOf(tx, PARTS.step)} from step s where s.operation_id in (?, ?)`, [operation.id, operation.previousOperationId ?? '']);
  return rows.map((row) => rowOf(tx, PARTS.step, row)!);
}

export function accountView(account: Account): AccountView {
  return {
    id: account.id, platformAccountId: account.platformAccountId, username: account.username ?? null,
    displayName: account.displayNameOverride ?? account.displayName ?? null, metadata: account.metadata, facts: account.facts, factsAt: account.factsAt ?? null,
  };
}

/** The bases an adapter calls; the only place that knows whether they are the platform's or the sandbox's. */
export function endpointsOf({ infra }: ActivityDeps, account: Account): Endpoints {
  return account.mode === 'test' ? sandboxEndpoints(account.platform, infra.config.sandbox.url, infra.config.baseUrl) : liveEndpoints(account.platform, account.metadata);
}

export function openCredential({ infra }: ActivityDeps, row: CredentialRow): Credential {
  return JSON.parse(unseal(infra.secrets.encryptionKeys, credentialPlace(row), Buffer.from(row.sealed)).toString()) as Credential;
}

/** The work as adapters see it, with media as declared: the files are opened when a step moves them. */
export function publishWork(deps: ActivityDeps, loaded: Loaded, done: ReadonlyMap<string, FinishedStep>): PublishWork {
  const stored = loaded.steps.flatMap((step) => (step.state === 'done' && step.checkpoint ? [[step.name, step.checkpoint] as const] : []));
  const fresh = [...done].map(([name, finished]) => [name, finished.checkpoint] as const);
  return {
    operationId: loaded.operation.id,
    account: accountView(loaded.account),
    // Opened when a request is made: what can no longer be opened must not keep the row from being judged.
    get credential() {
      return loaded.credential === null ? {} : openCredential(deps, loaded.credential);
    },
    endpoints: endpointsOf(deps, loaded.account),
    text: loaded.target.text ?? null,
    media: declaredMedia(loaded),
    options: loaded.target.options,
    checkpoints: Object.fromEntries([...stored, ...fresh]),
    now: deps.infra.clock.now(),
  };
}

/** The same for a read that looks for a lost post: it must not take for it what another target or attempt has made. */
export function lookingWork(deps: ActivityDeps, loaded: Loaded, done: ReadonlyMap<string, FinishedStep>): PublishWork {
  return {
    ...publishWork(deps, loaded, done),
    taken: (ids) => inScope(deps.infra.db, SYSTEM, (tx) => heldByOthers(tx, loaded.operation, ids)),
  };
}

/** The stored plan stands once it is stored; before that the adapter makes it. */
export function planOf(provider: Provider, loaded: Loaded, work: PublishWork): PlannedStep[] {
  const fresh = provider.plan(work);
  if (loaded.steps.length === 0) return fresh;
  const names = new Map(fresh.map((step) => [step.name, step]));
  return loaded.steps.toSorted((a, b) => a.position - b.position).map((step) => ({ ...names.get(step.name), name: step.name, effect: step.effect, required: step.required }));
}
