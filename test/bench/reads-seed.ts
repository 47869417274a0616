import type { Database } from '../../infra/db/database.ts';
import { inScope, SYSTEM } from '../../infra/db/tenant.ts';

/** What the queries of the benchmark name. */
export interface Seeded {
  organizationId: string;
  workspace: string;
  account: string;
  /** Has one post in a thousand. */
  rareAccount: string;
  tag: string;
  twitter: string;
  /** One of the newest posts, with two targets. */
  post: string;
}

const HEX = (number: string, digits = 32) => `lpad(to_hex(${number}), ${digits}, '0')`;
/** Three years of posts, whatever their number, so that a month holds the same share of them. */
const MADE_AT = (posts: number) => `now() - interval '3 years' + i * (interval '3 years' / ${posts})`;
const ACCOUNTS = 20;
const RARE = ACCOUNTS + 1;
const WITH_OPERATIONS = 2_000;

/**
 * An organization with so many posts, in set-based statements: 80 % published, 8 % failed, 2 % partial, 5 % scheduled, 5 %
 * drafts; three in ten have a second target, one in twenty a tag, half a workspace. Operations are there for the newest
 * targets, which are the ones that first pages show.
 */
export async function seedPosts(db: Database, organizationId: string, posts: number): Promise<Seeded> {
  const name = (prefix: string, n: number) => `${prefix}${n.toString(16).padStart(32, '0')}`;
  const run = (sql: string) => inScope(db, SYSTEM, async (tx) => {
    await tx.execute('set local statement_timeout = 0; set local synchronous_commit = off');
    await tx.execute(sql);
  });
  await run(libraryOf(organizationId));
  const slice = 100_000;
  for (let first = 1; first <= posts; first += slice) {
    const last = Math.min(posts, first + slice - 1);
    await run(postsOf(organizationId, { posts, first, last }));
    await run(targetsOf({ first, last }));
  }
  await run(operationsOf(posts));
  await run(`insert into post_tag (post_id, tag_id, organization_id, mode, created_at) select id, 'tag_' || ${HEX('1 + (seq / 20) % 10')}, organization_id, mode, created_at from post where seq % 20 = 0`);
  return { organizationId, workspace: name('ws_', 1), account: name('acc_', 3), rareAccount: name('acc_', RARE), tag: name('tag_', 3), twitter: name('acc_', 1), post: await newestPost(db) };
}

/** Posts carry their number in `seq`, so that what belongs to them is found again; nothing that is read looks at it. */
function libraryOf(organization: string): string {
  return `
    insert into workspace select 'ws_' || ${HEX('i')}, '${organization}', 'W' || i, 'w' || i, 'active', now(), now() from generate_series(1, 4) i;
    insert into tag select 'tag_' || ${HEX('i')}, '${organization}', 'test', null, 'tag ' || i, '#112233', now(), now() from generate_series(1, 10) i;
    insert into account (id, organization_id, mode, workspace_id, platform, platform_account_id, username, metadata, facts, status, sandbox_behaviour, scopes, min_gap_seconds, credential_generation, event_seq, connected_at, created_at, updated_at)
      select 'acc_' || ${HEX('i')}, '${organization}', 'test', null, (array['mastodon','twitter','bluesky','linkedin','threads'])[1 + i % 5], i::text, 'user' || i, '{}', '{}', 'active', 'normal', '{}', 0, 1, 0, now(), now(), now()
        from generate_series(1, ${RARE}) i;`;
}

function postsOf(organization: string, { posts, first, last }: { posts: number; first: number; last: number }): string {
  const status = `case when i % 100 < 80 then 'published' when i % 100 < 88 then 'failed' when i % 100 < 90 then 'partial' when i % 100 < 95 then 'scheduled' else 'draft' end`;
  return `
    insert into post (id, organization_id, mode, workspace_id, workspace_given, status, content, media, timezone, scheduled_at, published_at, max_lateness_seconds, on_late, revision, seq, event_seq, created_by, created_at, updated_at)
      select 'post_' || ${HEX('(extract(epoch from at) * 1000)::bigint', 12)} || '7000' || ${HEX('i', 16)}, '${organization}', 'test', case when i % 8 < 4 then 'ws_' || ${HEX('1 + i % 4')} end, false, status,
        'Post number ' || i || ': ' || repeat(md5(i::text) || ' ', 4) || case when i % 50 = 0 then 'a familiar word' else '' end,
        case when i % 3 = 0 then '[{"url":"https://cdn.example/a.png","type":"image"}]'::jsonb end, 'UTC',
        case status when 'draft' then null when 'scheduled' then now() + (i % 2592000) * interval '1 s' else at + interval '1 hour' end,
        case when status in ('published', 'partial') then at + interval '1 hour' end, 86400, 'hold', 1, i, 1, '{"type":"api_key","id":null}', at, at + interval '1 hour'
      from (select i, ${MADE_AT(posts)} as at, ${status} as status from generate_series(${first}, ${last}) i) made;`;
}

function targetsOf({ first, last }: { first: number; last: number }): string {
  const status = `case when post.status = 'partial' then (case when n = 1 then 'published' else 'failed' end) else post.status end`;
  return `
    insert into target (id, organization_id, mode, post_id, account_id, platform, position, status, attempt, text, options, media, error, platform_post_id, url, published_at, warnings, created_at, updated_at)
      select 'pt_' || ${HEX('post.seq * 4 + n')}, post.organization_id, post.mode, post.id, account.id, account.platform, n - 1, ${status}, 1, post.content, '{}', '[]',
        case when ${status} = 'failed' then '{"code":"PROVIDER_REJECTED","message":"The platform refused.","retryable":true}'::jsonb end,
        case when ${status} = 'published' then 'native' || post.seq end, case when ${status} = 'published' then 'https://platform.example/' || post.seq end,
        case when ${status} = 'published' then post.published_at end, '[]', post.created_at, post.updated_at
      from post cross join lateral (
        select 1 as n, 1 + seq % ${ACCOUNTS} as account
        union all select 2, 1 + (seq + 1) % ${ACCOUNTS} where seq % 10 < 3
        union all select 3, ${RARE} where seq % 1000 = 7) placed
      join account on account.id = 'acc_' || ${HEX('placed.account')}
      where post.seq between ${first} and ${last};`;
}

function operationsOf(posts: number): string {
  return `
    insert into operation (id, organization_id, mode, kind, status, revision, platform, account_id, subject_type, subject_id, post_id, target_id, attempt, recipient, object_key, partial, warnings,
        failures_in_a_row, refreshes, probe_count, probing, absent_reads, settled_by, workflow_id, created_by, event_seq, created_at, began_at, updated_at)
      select 'op_' || substr(target.id, 4), target.organization_id, target.mode, 'publish', case target.status when 'published' then 'succeeded' else 'failed' end, 1, target.platform, account_id, 'post_target', target.id, post_id, target.id, 1, '',
        target.id, false, '[]', 0, 0, 0, 'none', 0, 'answer', 'post/' || post_id || '/1', '{"type":"system","id":null}', 0, target.created_at, target.created_at, target.updated_at
      from target join post on post.id = target.post_id where post.seq > ${posts - WITH_OPERATIONS} and target.status in ('published', 'failed');
    update target set operation_id = 'op_' || substr(target.id, 4) from post where post.id = target.post_id and post.seq > ${posts - WITH_OPERATIONS} and target.status in ('published', 'failed');`;
}

async function newestPost(db: Database): Promise<string> {
  const rows = await inScope(db, SYSTEM, (tx) => tx.execute<{ id: string }[]>(`select id from post where seq % 10 < 3 and status = 'published' order by seq desc limit 1`));
  return rows[0]!.id;
}
