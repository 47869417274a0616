import { MikroORM, type EntityManager } from '@mikro-orm/postgresql';
import { DATABASE_CONNECTION_TIMEOUT_MS, REQUEST_TRANSACTION_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from '../contract/limits.ts';
import { AccountEntity } from './entities/account.entity.ts';
import { ApiKeyEntity } from './entities/api-key.entity.ts';
import { ContentTemplateEntity } from './entities/content-template.entity.ts';
import { CredentialEntity } from './entities/credential.entity.ts';
import { EventEntity } from './entities/event.entity.ts';
import { EvidenceEntity } from './entities/evidence.entity.ts';
import { OperationEntity } from './entities/operation.entity.ts';
import { OrganizationEntity } from './entities/organization.entity.ts';
import { OutboxEntity } from './entities/outbox.entity.ts';
import { PostEntity } from './entities/post.entity.ts';
import { QueueScheduleEntity } from './entities/queue-schedule.entity.ts';
import { ReceiptEntity } from './entities/receipt.entity.ts';
import { SignatureEntity } from './entities/signature.entity.ts';
import { StepEntity } from './entities/step.entity.ts';
import { PostTagEntity, TagEntity } from './entities/tag.entity.ts';
import { TargetEntity } from './entities/target.entity.ts';
import { TimelineEntryEntity } from './entities/timeline-entry.entity.ts';
import { UsageCounterEntity } from './entities/usage-counter.entity.ts';
import { VerdictEntity } from './entities/verdict.entity.ts';
import { WorkspaceEntity } from './entities/workspace.entity.ts';
import { joinBegin } from './joined-begin.ts';

export const ENTITIES = [
  AccountEntity, ApiKeyEntity, ContentTemplateEntity, CredentialEntity, EventEntity, EvidenceEntity, OperationEntity, OrganizationEntity, OutboxEntity, PostEntity,
  PostTagEntity, QueueScheduleEntity, ReceiptEntity, SignatureEntity, StepEntity, TagEntity, TargetEntity, TimelineEntryEntity, UsageCounterEntity, VerdictEntity, WorkspaceEntity,
];

export type Database = MikroORM;
/** The entity manager of one open transaction; only `inScope()` makes one. */
export type Tx = EntityManager;

export async function openDatabase(options: { url: string; pool: number }): Promise<Database> {
  return MikroORM.init({
    clientUrl: options.url,
    entities: ENTITIES,
    pool: { min: 0, max: options.pool },
    discovery: { warnWhenNoEntities: false },
    debug: false,
    driverOptions: {
      statement_timeout: STATEMENT_TIMEOUT_MS,
      // A process that stands still in a transaction must not keep its locks for ever.
      idle_in_transaction_session_timeout: REQUEST_TRANSACTION_TIMEOUT_MS,
      connectionTimeoutMillis: DATABASE_CONNECTION_TIMEOUT_MS,
      // Many requests share the cores, and to start helpers for one of them takes longer than what most statements do.
      options: '-c max_parallel_workers_per_gather=0',
      keepAlive: true,
      onPoolCreated(pool: PoolEvents) {
        pool.on('connect', joinBegin);
        returnBroken(pool);
      },
    },
  });
}

interface PooledClient {
  query(...given: unknown[]): unknown;
  release(destroy: boolean): void;
  once(event: 'end', listener: () => void): void;
}

interface PoolEvents {
  on(event: 'connect' | 'acquire', listener: (client: PooledClient) => void): void;
  on(event: 'release', listener: (error: unknown, client: PooledClient) => void): void;
}

/**
 * Gives a connection that broke inside a transaction back to the pool. The query builder releases it only after COMMIT or
 * ROLLBACK succeeded, which they cannot on a broken connection: without this, every break would cost a place of the pool for ever.
 */
function returnBroken(pool: PoolEvents): void {
  const lent = new Set<PooledClient>();
  pool.on('acquire', (client) => lent.add(client));
  pool.on('release', (_error, client) => lent.delete(client));
  // Later than the end itself: a holder outside a transaction gives it back by its own finally.
  pool.on('connect', (client) => client.once('end', () => setTimeout(() => lent.has(client) && client.release(true), 10)));
}
