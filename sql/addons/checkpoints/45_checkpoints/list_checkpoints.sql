create or replace function memory.list_checkpoints(
  user_id text, thread_id text default null, namespace text default null, checkpoint_id text default null,
  filter jsonb default null, before text default null, row_limit int default 50
)
returns setof memory.checkpoint
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  page text;
begin
  perform memory._check_checkpoint(user_id, coalesce(thread_id, 'any'), coalesce(namespace, ''),
    coalesce(checkpoint_id, 'any'));
  perform memory._check_id('before', coalesce(before, 'none'));
  perform memory._check_filter(filter);
  perform memory._check_page(row_limit, 0);
  -- The statement is built from the given conditions, so that each choice of conditions has its own plan: with a thread
  -- and a namespace the primary key gives the newest checkpoints.
  page := concat_ws(' and ', 'select c from memory.checkpoints as c where c.user_id = $1',
    case when thread_id is not null then 'c.thread_id = $2' end,
    case when namespace is not null then 'c.namespace = $3' when thread_id is not null then 'c.namespace = s.name' end,
    case when checkpoint_id is not null then 'c.checkpoint_id = $4' end,
    case when filter is not null then 'c.metadata @> $5' end,
    case when before is not null then 'c.checkpoint_id < $6' end,
    '(not exists (select from memory.checkpoints as e where e.user_id = $1 and e.expires_at is not null) '
    'or not memory._checkpoints_have_expired(c.user_id, c.thread_id)) '
    'order by c.checkpoint_id desc fetch first ($7) rows with ties');
  if thread_id is not null and namespace is null then
    -- The statement steps from one namespace to the next by the index, and takes the newest checkpoints of each.
    page := format(
      'with recursive s as ( '
      '  select '''' as name '
      '  union all '
      '  select (select c.namespace from memory.checkpoints as c '
      '          where c.user_id = $1 and c.thread_id = $2 and c.namespace > s.name order by c.namespace limit 1) '
      '  from s where s.name is not null) '
      'select p.c from s cross join lateral (%s) as p '
      'order by (p.c).checkpoint_id desc fetch first ($7) rows with ties', page);
  end if;
  return query execute format(
    'select w.* from (%s) as n '
    'cross join lateral memory._whole_checkpoint(n.c, (n.c).checkpoint -> ''blobless_versions'') as w '
    'order by w.checkpoint_id desc', page)
  using user_id, thread_id, namespace, checkpoint_id, filter, before, row_limit;
end;
$$;
comment on function memory.list_checkpoints(text, text, text, text, jsonb, text, int) is
'A user''s checkpoints with their values, newest first: of one thread or all, of one namespace or all, those whose '
'metadata contains the filter, and those before a checkpoint, by whose id the next page is read. A page of all threads '
'may have more than row_limit rows, because a copied thread has checkpoints of the same ids.';
