import { Migration } from '@mikro-orm/migrations';
import { systemPolicy, tenantPolicies, tenantPolicy } from '../policies.ts';

// References are checked at the commit: the unit of work inserts tables in an order of its own.
const TABLES = String.raw`
create table organization (
  id text primary key, name text not null, slug text not null unique,
  status text not null check (status in ('active','suspended','deleting')),
  plan text not null check (plan in ('free','pro')),
  quota_mode text not null check (quota_mode in ('hard','metered','unlimited')),
  quota_units integer, rate_per_minute integer,
  require_workspace_id boolean not null,
  created_at timestamptz(3) not null, updated_at timestamptz(3) not null
);

create table workspace (
  id text primary key, organization_id text not null references organization deferrable initially deferred, name text not null, slug text not null,
  status text not null check (status in ('active','archived','erasing')),
  created_at timestamptz(3) not null, updated_at timestamptz(3) not null,
  unique (organization_id, slug)
);

create table api_key (
  id text primary key, organization_id text not null references organization deferrable initially deferred, mode text not null check (mode in ('live','test')),
  name text, digest bytea not null unique, pepper_id text not null, start text not null, last4 text not null,
  permissions text[] not null, workspace_scope text[], enabled boolean not null,
  expires_at timestamptz(3), last_used_at timestamptz(3),
  created_at timestamptz(3) not null, updated_at timestamptz(3) not null
);

create table account (
  id text primary key, organization_id text not null references organization deferrable initially deferred, mode text not null check (mode in ('live','test')),
  workspace_id text references workspace deferrable initially deferred,
  platform text not null, platform_account_id text not null, username text, display_name text, display_name_override text, avatar_url text,
  metadata jsonb not null, facts jsonb not null, facts_at timestamptz(3),
  status text not null check (status in ('active','reconnect_required','disconnecting','disconnected')),
  status_reason text check ((status = 'active') = (status_reason is null)),
  sandbox_behaviour text, scopes text[] not null,
  min_gap_seconds integer not null check (min_gap_seconds between 0 and 86400),
  daily_budget integer check (daily_budget between 1 and 10000), next_allowed_at timestamptz(3),
  credential_generation integer not null, event_seq integer not null,
  connected_at timestamptz(3) not null, reconnected_at timestamptz(3), disconnected_at timestamptz(3),
  created_at timestamptz(3) not null, updated_at timestamptz(3) not null,
  unique (organization_id, mode, platform, platform_account_id)
);
create index account_list on account (organization_id, mode, connected_at desc, id desc);

create table credential (
  account_id text primary key references account deferrable initially deferred, organization_id text not null, mode text not null,
  generation integer not null, sealed bytea not null, expires_at timestamptz(3),
  refreshing_until timestamptz(3), refreshes_lost integer not null, updated_at timestamptz(3) not null
);

create table post (
  id text primary key, organization_id text not null references organization deferrable initially deferred, mode text not null check (mode in ('live','test')),
  workspace_id text references workspace deferrable initially deferred, workspace_given boolean not null,
  status text not null check (status in ('draft','scheduled','publishing','published','failed','partial')),
  content text, media jsonb, target_options jsonb, timezone text not null,
  scheduled_at timestamptz(3), wall_time text, published_at timestamptz(3), notes text,
  max_lateness_seconds integer not null, on_late text not null check (on_late in ('publish','skip','hold')), hold_reason text,
  revision integer not null, seq integer not null, event_seq integer not null,
  request_id text, created_by jsonb not null, deleted_at timestamptz(3),
  created_at timestamptz(3) not null, updated_at timestamptz(3) not null
);
create index post_list on post (organization_id, mode, (coalesce(published_at, created_at)) desc, id desc) where deleted_at is null;
create index post_calendar on post (organization_id, mode, (coalesce(published_at, scheduled_at, created_at))) where deleted_at is null;
create index post_due on post (scheduled_at) where status = 'scheduled' and deleted_at is null;
create index post_publishing on post (updated_at) where status = 'publishing';

-- Post and targets are written by one flush in no order of their own, so the reference is judged at the commit.
create table target (
  id text primary key, organization_id text not null, mode text not null,
  post_id text not null references post deferrable initially deferred, account_id text not null references account deferrable initially deferred, platform text not null, position integer not null,
  status text not null check (status in ('draft','scheduled','publishing','published','failed')),
  attempt integer not null check (attempt >= 0), text text, options jsonb not null, media jsonb not null,
  error jsonb check ((error is null) or status = 'failed'),
  operation_id text, platform_post_id text, url text,
  published_at timestamptz(3), unpublished_at timestamptz(3), waiting_for text, waiting_until timestamptz(3), vanished_at timestamptz(3),
  warnings jsonb not null, created_at timestamptz(3) not null, updated_at timestamptz(3) not null, updated_before timestamptz(3),
  unique (post_id, account_id)
);
create index target_log on target (organization_id, mode, updated_at desc, id desc);
create index target_account on target (account_id, status);
create index target_native on target (account_id, platform_post_id) where platform_post_id is not null;

create table operation (
  id text primary key, organization_id text not null references organization deferrable initially deferred, mode text not null check (mode in ('live','test')),
  kind text not null, action text, status text not null check (status in ('pending','sending','succeeded','failed','unknown')),
  revision integer not null, platform text not null, account_id text not null references account deferrable initially deferred, workspace_id text,
  subject_type text not null, subject_id text not null, post_id text, target_id text,
  attempt integer not null check (attempt >= 1), recipient text not null, previous_operation_id text, object_key text not null,
  partial boolean not null, warnings jsonb not null,
  claim_token text, claim_step text, claim_deadline timestamptz(3), claimed_at timestamptz(3),
  failures_in_a_row integer not null, held_by text, refreshes integer not null,
  next_probe_at timestamptz(3), last_probe_at timestamptz(3), probe_count integer not null,
  probing text not null check (probing in ('none','active','exhausted','unavailable')),
  absent_reads integer not null, absent_since timestamptz(3),
  settled_by text check (settled_by in ('answer','late_answer','probe','verdict','service')),
  error jsonb, result jsonb, request_digest text, workflow_id text not null, run_id text,
  request_id text, created_by jsonb not null, event_seq integer not null,
  created_at timestamptz(3) not null, began_at timestamptz(3) not null, sent_at timestamptz(3), settled_at timestamptz(3),
  unknown_since timestamptz(3), updated_at timestamptz(3) not null,
  unique (subject_id, kind, attempt, recipient),
  check ((settled_by is not null) = (status in ('succeeded','failed'))),
  check ((status = 'sending') = (claim_token is not null and claim_deadline is not null) or status in ('unknown','succeeded','failed'))
);
create unique index operation_open_object on operation (account_id, object_key) where status in ('pending','sending','unknown');
create index operation_list on operation (organization_id, mode, created_at desc, id desc);
create index operation_unknown on operation (organization_id, mode, unknown_since, id) where status = 'unknown';
create index operation_sending on operation (claim_deadline) where status = 'sending';
create index operation_post on operation (post_id);
create index operation_claimed on operation (account_id, claimed_at) where claimed_at is not null;

create table step (
  operation_id text not null references operation deferrable initially deferred, name text not null, organization_id text not null, mode text not null,
  position integer not null, effect text not null check (effect in ('read','private','public_keyed','public_unkeyed')), required boolean not null,
  state text not null check (state in ('pending','sending','done','refused','unknown','skipped')),
  attempt integer not null, reused boolean not null, progress text not null, bytes_sent integer, bytes_received integer, http_status integer,
  provider_id text, checkpoint jsonb, usable_until timestamptz(3), error jsonb,
  started_at timestamptz(3), sent_at timestamptz(3), finished_at timestamptz(3),
  primary key (operation_id, name)
);

create table evidence (
  id text primary key, organization_id text not null, mode text not null, operation_id text not null references operation deferrable initially deferred,
  kind text not null, step text, source text not null, conclusion text not null, probe_ordinal integer,
  observed_at timestamptz(3) not null, summary text not null, data jsonb not null
);
create index evidence_list on evidence (operation_id, observed_at desc, id desc);

create table verdict (
  id text primary key, organization_id text not null, mode text not null, operation_id text not null references operation deferrable initially deferred,
  outcome text not null, platform_post_id text, url text, reason text not null,
  state text not null check (state in ('applied','superseded','contradicted')),
  actor jsonb not null, request_id text, expected_revision integer not null, contradicted_by text,
  created_at timestamptz(3) not null, applied_at timestamptz(3)
);
create unique index verdict_in_force on verdict (operation_id) where state = 'applied';

create table timeline_entry (
  id text primary key, organization_id text not null, mode text not null, at timestamptz(3) not null, type text not null,
  post_id text, target_id text, operation_id text, step text, attempt integer, message text not null,
  evidence_id text, event_id text, verdict_id text, actor jsonb, request_id text, data jsonb not null
);
create index timeline_operation on timeline_entry (operation_id, at, id) where operation_id is not null;
create index timeline_post on timeline_entry (post_id, at, id) where post_id is not null;

create table event (
  id text primary key, organization_id text not null, mode text not null, workspace_id text,
  event text not null, subject_type text not null, subject_id text not null, sequence integer not null check (sequence >= 1),
  data jsonb not null, created_at timestamptz(3) not null,
  unique (subject_type, subject_id, sequence)
);
create index event_list on event (organization_id, mode, created_at desc, id desc);

create table outbox (
  id text primary key, organization_id text not null, mode text not null, intent text not null check (intent in ('start','cancel','wake')),
  workflow text not null, workflow_id text not null, args jsonb, summary text not null, search_attributes jsonb not null,
  priority integer not null, start_at timestamptz(3), available_at timestamptz(3) not null, attempts integer not null, created_at timestamptz(3) not null
);
create index outbox_available on outbox (available_at);

create table receipt (
  id text primary key, organization_id text not null, mode text not null, lineage text not null, key text not null,
  route bytea not null, fingerprint bytea not null, status integer not null, content_type text, location text, etag text,
  sealed bytea, workspace_ids text[] not null, request_id text not null, created_at timestamptz(3) not null,
  unique (organization_id, mode, lineage, key)
);
create index receipt_age on receipt (created_at);

create table usage_counter (
  organization_id text not null, mode text not null, period text not null, shard integer not null, units integer not null,
  primary key (organization_id, mode, period, shard)
);

create table rate_bucket (
  id text primary key, full_at double precision not null
);
create index rate_bucket_age on rate_bucket (full_at);
`;


/** Rows of one organization and mode. */
const MODE_SCOPED = [
  'account', 'credential', 'post', 'target', 'operation', 'step', 'evidence', 'verdict', 'timeline_entry', 'event', 'outbox', 'receipt', 'usage_counter',
];
/** Rows of one organization, whatever the mode. */
const ORGANIZATION_SCOPED = ['workspace', 'api_key'];
const SYSTEM_ONLY = ['rate_bucket'];

const policies = (): string => [
  tenantPolicies(MODE_SCOPED),
  ...ORGANIZATION_SCOPED.map((table) => tenantPolicy(table, `organization_id = current_setting('app.org', true)`)),
  tenantPolicy('organization', `id = current_setting('app.org', true)`),
  ...SYSTEM_ONLY.map((table) => systemPolicy(table)),
].join('\n');

/** The transition tables of infra/contract/statuses.ts, kept by the database itself. */
const TRANSITIONS = String.raw`
create function refuse_transition() returns trigger language plpgsql as $$
begin
  if old.status is distinct from new.status and not (old.status || '>' || new.status = any (string_to_array(tg_argv[0], ','))) then
    raise exception 'a % cannot go from % to %', tg_table_name, old.status, new.status using errcode = 'check_violation', constraint = 'transition';
  end if;
  return new;
end $$;

create trigger transition before update of status on target for each row execute function refuse_transition(
  'draft>scheduled,draft>publishing,scheduled>draft,scheduled>publishing,scheduled>failed,publishing>published,publishing>failed,publishing>draft,published>draft,published>failed,failed>publishing,failed>published');

create trigger transition before update of status on operation for each row execute function refuse_transition(
  'pending>sending,pending>failed,sending>pending,sending>succeeded,sending>failed,sending>unknown,unknown>succeeded,unknown>failed,failed>succeeded,succeeded>failed');

-- The place that a row had in the publishing log before its last change, so that a listing under way does not lose it.
create function remember_place() returns trigger language plpgsql as $$
begin
  new.updated_before := old.updated_at;
  return new;
end $$;
create trigger place before update of updated_at on target for each row when (old.updated_at is distinct from new.updated_at) execute function remember_place();

create function keep_proved() returns trigger language plpgsql as $$
begin
  if old.status in ('succeeded', 'failed') and old.status is distinct from new.status and old.settled_by is distinct from 'verdict' then
    raise exception 'an operation settled by % is final', old.settled_by using errcode = 'check_violation', constraint = 'proved';
  end if;
  return new;
end $$;
create trigger proved before update of status on operation for each row execute function keep_proved();
`;

export class Migration20261121090000 extends Migration {
  override up(): void {
    this.addSql(TABLES);
    this.addSql(policies());
    // Readiness asks which migrations have run.
    this.addSql('grant select on mikro_orm_migrations to oncepost_system');
    this.addSql(TRANSITIONS);
  }
}
