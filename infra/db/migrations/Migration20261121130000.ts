import { Migration } from '@mikro-orm/migrations';
import { tenantPolicies } from '../policies.ts';

/** What feeds a post: templates, signatures, tags, queue schedules; and what a post keeps of them. */
const TABLES = `
create table tag (
  id text primary key, organization_id text not null references organization deferrable initially deferred, mode text not null check (mode in ('live','test')), workspace_id text references workspace,
  name text not null, color text not null, created_at timestamptz(3) not null, updated_at timestamptz(3) not null
);
create unique index tag_name on tag (organization_id, mode, coalesce(workspace_id, ''), lower(name));

create table post_tag (
  post_id text not null references post on delete cascade deferrable initially deferred, tag_id text not null references tag on delete cascade deferrable initially deferred,
  organization_id text not null, mode text not null, listed_at timestamptz(3) not null, created_at timestamptz(3) not null,
  primary key (post_id, tag_id)
);
create index post_tag_listed on post_tag (tag_id, listed_at desc, post_id desc);

create table signature (
  id text primary key, organization_id text not null references organization deferrable initially deferred, mode text not null check (mode in ('live','test')), workspace_id text references workspace,
  name text not null, content text not null, position text not null check (position in ('append','prepend')), is_default boolean not null,
  revision integer not null, created_at timestamptz(3) not null, updated_at timestamptz(3) not null
);
create index signature_list on signature (organization_id, mode, created_at desc, id desc);
create unique index signature_default on signature (organization_id, mode, coalesce(workspace_id, '')) where is_default;

create table content_template (
  id text primary key, organization_id text not null references organization deferrable initially deferred, mode text not null check (mode in ('live','test')), workspace_id text references workspace,
  name text not null, description text, content text not null, platform_overrides jsonb, tags text[] not null,
  revision integer not null, created_at timestamptz(3) not null, updated_at timestamptz(3) not null
);
create index content_template_list on content_template (organization_id, mode, created_at desc, id desc);

create table queue_schedule (
  id text primary key, organization_id text not null references organization deferrable initially deferred, mode text not null check (mode in ('live','test')), workspace_id text references workspace,
  name text, slots jsonb not null, is_default boolean not null,
  revision integer not null, created_at timestamptz(3) not null, updated_at timestamptz(3) not null
);
create index queue_schedule_list on queue_schedule (organization_id, mode, created_at, id);
create unique index queue_schedule_default on queue_schedule (organization_id, mode, coalesce(workspace_id, '')) where is_default;

alter table post
  add column text_source jsonb not null default '{"kind":"none","text":null,"overrides":null,"variables":{}}',
  add column template_id text, add column signature jsonb, add column skip_signature boolean not null default false,
  add column shorten_urls boolean not null default false, add column auto_schedule jsonb,
  add column erased_at timestamptz(3);
create index post_to_erase on post (deleted_at) where deleted_at is not null and erased_at is null;
-- Forced row-level security hides every row from the owner too.
alter table post no force row level security;
update post set text_source = jsonb_build_object('kind', 'content', 'text', content, 'overrides', null, 'variables', '{}'::jsonb) where content is not null;
alter table post force row level security;

-- Late posts of an account wait for each other by a time of their own: those that are on time do not wait for them.
alter table account add column late_allowed_at timestamptz(3);

-- How the earlier ones were named is not known; who was named by id is judged more strictly.
alter table target add column fingerprint text, add column by_id boolean not null default true;
create index target_fingerprint on target (account_id, fingerprint) where fingerprint is not null;
create index target_published on target (account_id, published_at) where status = 'published';

-- Starts of posts that were created together; 4 is their priority.
create index outbox_bulk on outbox (organization_id, mode, available_at) where priority = 4;
`;

/** The order of lists, kept where posts are found by. */
const PLACES = String.raw`
-- Row-level security keeps conditions on expressions such as coalesce() out of indexes, so what a list is ordered by is a column.
alter table post add column listed_at timestamptz(3) not null generated always as (coalesce(published_at, created_at)) stored;
drop index post_list;
drop index post_calendar;
create index post_list on post (organization_id, mode, listed_at desc, id desc) where deleted_at is null;
create index post_status on post (organization_id, mode, status, listed_at desc, id desc) where deleted_at is null;
create index post_workspace on post (workspace_id, listed_at desc, id desc) where deleted_at is null and workspace_id is not null;
create index post_template on post (template_id, listed_at desc, id desc) where template_id is not null;
create index post_planned on post (organization_id, mode, scheduled_at) where deleted_at is null and published_at is null and scheduled_at is not null;

-- What posts are found by knows their place in the list, so that the list of an account, a platform or a tag is read in order too.
alter table target add column listed_at timestamptz(3);
alter table post no force row level security;
alter table target no force row level security;
update target set listed_at = post.listed_at from post where post.id = target.post_id;
alter table post force row level security;
alter table target force row level security;
alter table target alter column listed_at set not null;
create index target_listed on target (account_id, listed_at desc, post_id desc);
create index target_platform on target (organization_id, mode, platform, listed_at desc, post_id desc);

create function take_place() returns trigger language plpgsql as $$
begin
  -- A post that is written by the same statement is not seen here; it was made when this row was.
  new.listed_at := coalesce((select post.listed_at from post where post.id = new.post_id), new.created_at);
  return new;
end $$;
create trigger listed before insert on target for each row execute function take_place();
create trigger listed before insert on post_tag for each row execute function take_place();

create function move_place() returns trigger language plpgsql as $$
begin
  update target set listed_at = new.listed_at where post_id = new.id;
  update post_tag set listed_at = new.listed_at where post_id = new.id;
  return null;
end $$;
create trigger listed after update of published_at, created_at on post for each row when (old.listed_at is distinct from new.listed_at) execute function move_place();
`;

export class Migration20261121130000 extends Migration {
  override up(): void {
    this.addSql(TABLES);
    this.addSql(PLACES);
    this.addSql(tenantPolicies(['tag', 'post_tag', 'signature', 'content_template', 'queue_schedule']));
  }
}
