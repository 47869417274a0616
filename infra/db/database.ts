import { MikroORM, type EntityManager } from '@mikro-orm/postgresql';
import { DATABASE_CONNECTION_TIMEOUT_MS, REQUEST_TRANSACTION_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from '../contract/limits.ts';
import { AccountEntity } from './entities/account.entity.ts';
import { ApiKeyEntity } from './entities/api-key.entity.ts';
import { CredentialEntity } from './entities/credential.entity.ts';
import { EventEntity } from './entities/event.entity.ts';
import { EvidenceEntity } from './entities/evidence.entity.ts';
import { OperationEntity } from './entities/operation.entity.ts';
import { OrganizationEntity } from './entities/organization.entity.ts';
import { OutboxEntity } from './entities/outbox.entity.ts';
import { PostEntity } from './entities/post.entity.ts';
import { ReceiptEntity } from './entities/receipt.entity.ts';
import { StepEntity } from './entities/step.entity.ts';
import { TargetEntity } from './entities/target.entity.ts';
import { TimelineEntryEntity } from './entities/timeline-entry.entity.ts';
import { UsageCounterEntity } from './entities/usage-counter.entity.ts';
import { VerdictEntity } from './entities/verdict.entity.ts';
import { WorkspaceEntity } from './entities/workspace.entity.ts';

export const ENTITIES = [
  AccountEntity, ApiKeyEntity, CredentialEntity, EventEntity, EvidenceEntity, OperationEntity, OrganizationEntity, OutboxEntity, PostEntity,
  ReceiptEntity, StepEntity, TargetEntity, TimelineEntryEntity, UsageCounterEntity, VerdictEntity, WorkspaceEntity,
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
      keepAlive: true,
    },
  });
}
