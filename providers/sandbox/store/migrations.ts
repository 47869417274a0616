import { WRITE_FUNCTION } from './write-function.ts';

const TABLES = `
create table sandbox.organization (
  id text primary key,
  epoch integer not null default 1,
  next_ordinal bigint not null default 1
);

create table sandbox.account (
  id text primary key,
  organization_id text not null references sandbox.organization,
  platform text not null,
  platform_account_id text not null,
  username text not null,
  display_name text,
  behaviour text not null default 'normal',
  -- the generation that was current when the behaviour was set: a refreshed token is past token_expired
  behaviour_generation integer not null default 1,
  access_sha256 bytea not null,
  refresh_sha256 bytea,
  access_since timestamptz not null default now(),
  generation integer not null default 1
);
create index on sandbox.account (organization_id, platform, platform_account_id);

create table sandbox.object (
  platform text not null,
  object_id text not null,
  organization_id text not null,
  account_id text not null,
  kind text not null,
  page_id text not null unique,
  url text,
  text text,
  parent_id text,
  media jsonb not null default '[]',
  -- what only the platform's own replies need
  detail jsonb not null default '{}',
  -- absent: never existed, but hide-listing covers the lists that would have held it
  state text not null check (state in ('public', 'removed', 'rejected', 'absent')),
  hidden boolean not null default false,
  listed boolean not null default true,
  -- the platform's own order of its lists
  seq bigint not null,
  created_at timestamptz not null,
  visible_at timestamptz not null,
  vanish_at timestamptz,
  removed_at timestamptz,
  primary key (platform, object_id)
);
create index on sandbox.object (account_id, seq);
create index on sandbox.object (organization_id, created_at, object_id);
create index on sandbox.object (vanish_at) where vanish_at is not null and state = 'public';

create table sandbox.media (
  platform text not null,
  media_id text not null,
  account_id text not null,
  kind text not null,
  mime_type text not null,
  bytes bigint not null,
  sha256 text,
  alt_text text,
  words text not null default '',
  detail jsonb not null default '{}',
  state text not null check (state in ('open', 'processing', 'ready', 'failed')),
  ready_at timestamptz,
  attached_to text,
  created_at timestamptz not null default now(),
  primary key (platform, media_id)
);
create index on sandbox.media (account_id);

-- Bytes of uploads that are not finished. Not logged: after a crash of the database the client uploads again, as it must on the platform.
create unlogged table sandbox.segment (
  platform text not null,
  media_id text not null,
  position integer not null,
  content bytea not null,
  primary key (platform, media_id, position)
);

create table sandbox.idempotency_key (
  account_id text not null,
  key text not null,
  object_id text not null,
  expires_at timestamptz not null,
  primary key (account_id, key)
);

create table sandbox.used_word (
  account_id text not null,
  subject bytea not null,
  step text not null,
  word text not null,
  used_at timestamptz not null default now(),
  primary key (account_id, subject, step, word)
);

create table sandbox.operation_words (
  account_id text not null,
  operation_id text not null,
  words text not null,
  at timestamptz not null default now(),
  primary key (account_id, operation_id)
);

create table sandbox.ledger (
  id text primary key,
  organization_id text not null,
  ordinal bigint not null,
  epoch integer not null,
  at timestamptz not null,
  platform text not null,
  account_id text not null,
  kind text not null,
  object_id text,
  platform_post_id text,
  parent_id text,
  url text,
  text text,
  media jsonb not null default '[]',
  recipient text,
  operation_id text,
  step text,
  attempt integer,
  key text,
  answered text not null,
  word text,
  double boolean not null default false,
  request jsonb not null,
  unique (organization_id, ordinal)
);
create index on sandbox.ledger (operation_id, step) where kind <> 'request';
create index on sandbox.ledger (organization_id, account_id, ordinal);
create index on sandbox.ledger (platform, object_id) where kind = 'remove';
create index on sandbox.ledger (at);

create function sandbox.refuse_change() returns trigger language plpgsql as $body$
begin
  if tg_op = 'DELETE' and old.at < now() - interval '89 days' then return old; end if;
  raise exception 'the ledger is append-only';
end $body$;
create trigger append_only before update or delete on sandbox.ledger for each row execute function sandbox.refuse_change();
`;

/** Applied in order, once each. A published version is never edited: a change is a new entry. */
export const MIGRATIONS: readonly string[] = [TABLES + WRITE_FUNCTION];
