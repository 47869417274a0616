/**
 * The one way into the ledger: takes a list of entries and writes all of them in the transaction of the call. The row of the
 * organization is locked first, so ordinals have no gaps and no order but that of the commits.
 */
export const WRITE_FUNCTION = `
create function sandbox.write(entries jsonb) returns jsonb language plpgsql as $body$
declare
  results jsonb := '[]';
  item record;
  e jsonb;
  o jsonb;
  place record;
  known text;
  outcome text;
  entry_kind text;
  changed integer;
  is_double boolean;
begin
  for item in select value, ordinality - 1 as n from jsonb_array_elements(entries) with ordinality order by value->>'organization_id', ordinality loop
    e := item.value;
    o := nullif(e->'object', 'null');
    entry_kind := e->>'kind';
    outcome := 'done';
    known := null;
    is_double := false;
    update sandbox.organization set next_ordinal = next_ordinal + 1 where id = e->>'organization_id'
      returning next_ordinal - 1 as ordinal, epoch into place;
    if not found then
      results := results || jsonb_build_object('n', item.n, 'outcome', 'no_organization');
      continue;
    end if;

    if e->>'unique_key' is not null and entry_kind <> 'request' then
      select object_id into known from sandbox.idempotency_key
        where account_id = e->>'account_id' and key = e->>'unique_key' and expires_at > clock_timestamp();
      if known is not null then outcome := 'repeated'; end if;
    end if;
    if outcome = 'done' and jsonb_array_length(coalesce(nullif(e->'attach', 'null'), '[]')) > 0 then
      update sandbox.media set attached_to = o->>'object_id'
        where platform = e->>'platform' and account_id = e->>'account_id' and attached_to is null
          and media_id in (select jsonb_array_elements_text(e->'attach'));
      get diagnostics changed = row_count;
      if changed < jsonb_array_length(e->'attach') then
        update sandbox.media set attached_to = null where platform = e->>'platform' and attached_to = o->>'object_id';
        outcome := 'media_taken';
      end if;
    end if;
    if outcome = 'done' and e->>'remove' is not null then
      update sandbox.object set state = 'removed', removed_at = clock_timestamp()
        where platform = e->>'platform' and object_id = e->>'remove' and account_id = e->>'account_id' and state = 'public';
      if not found then outcome := 'missing'; end if;
    end if;
    if outcome <> 'done' then entry_kind := 'request'; end if;

    if outcome = 'done' and o is not null then
      insert into sandbox.object (platform, object_id, organization_id, account_id, kind, page_id, url, text, parent_id, media, detail, state,
          hidden, seq, created_at, visible_at, vanish_at)
        values (e->>'platform', o->>'object_id', e->>'organization_id', e->>'account_id', o->>'kind', o->>'page_id', o->>'url', o->>'text',
          o->>'parent_id', o->'media', o->'detail', o->>'state', (o->>'hidden')::boolean, (o->>'seq')::bigint,
          (o->>'created_at')::timestamptz, (o->>'visible_at')::timestamptz, (o->>'vanish_at')::timestamptz);
    end if;
    if outcome = 'done' and e->>'unique_key' is not null and entry_kind <> 'request' then
      insert into sandbox.idempotency_key (account_id, key, object_id, expires_at)
        values (e->>'account_id', e->>'unique_key', o->>'object_id', clock_timestamp() + make_interval(secs => (e->>'unique_for')::double precision))
        on conflict (account_id, key) do update set object_id = excluded.object_id, expires_at = excluded.expires_at;
    end if;
    if entry_kind <> 'request' and e->>'operation_id' is not null then
      is_double := exists (
        select 1 from sandbox.ledger earlier
          where earlier.operation_id = e->>'operation_id' and earlier.step is not distinct from e->>'step' and earlier.kind <> 'request'
            and earlier.recipient is not distinct from e->>'recipient' and earlier.organization_id = e->>'organization_id'
            and not exists (select 1 from sandbox.ledger gone where gone.kind = 'remove' and gone.platform = earlier.platform and gone.object_id = earlier.object_id));
    end if;

    insert into sandbox.ledger (id, organization_id, ordinal, epoch, at, platform, account_id, kind, object_id, platform_post_id, parent_id, url,
        text, media, recipient, operation_id, step, attempt, key, answered, word, double, request)
      values (e->>'id', e->>'organization_id', place.ordinal, place.epoch, clock_timestamp(), e->>'platform', e->>'account_id', entry_kind,
        case when outcome = 'repeated' then known when entry_kind <> 'request' then e->>'object_id' end,
        case when entry_kind <> 'request' then e->>'platform_post_id' end,
        e->>'parent_id',
        case when entry_kind <> 'request' then e->>'url' end,
        case when entry_kind <> 'request' then e->>'text' end,
        case when entry_kind <> 'request' then e->'media' else '[]' end,
        e->>'recipient', e->>'operation_id', e->>'step', (e->>'attempt')::integer, e->>'key',
        case when outcome in ('done', 'repeated') then e->>'answered' else 'refused' end, e->>'word', is_double, e->'request');
    results := results || jsonb_build_object('n', item.n, 'outcome', outcome, 'known', known);
  end loop;
  return results;
end $body$;
`;
