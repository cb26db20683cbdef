create or replace function memory.list_checkpoints(
  user_id text, thread_id text default null, namespace text default null, checkpoint_id text default null,
  filter jsonb default null, before text default null, row_limit int default 50
)
returns setof memory.checkpoint
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_checkpoint(user_id, coalesce(thread_id, 'any'), coalesce(namespace, ''),
    coalesce(checkpoint_id, 'any'));
  perform memory._check_id('before', coalesce(before, 'none'));
  perform memory._check_filter(filter);
  perform memory._check_page(row_limit, 0);
  -- A plan of its own for each choice of conditions: with a thread and a namespace the primary key gives the newest.
  return query execute format(
    'select w.* '
    'from (select c, c.checkpoint -> ''blobless_versions'' as blobless '
    '      from memory.checkpoints as c where c.user_id = $1 %s %s %s %s %s '
    '      and (not exists (select from memory.checkpoints as e where e.user_id = $1 and e.expires_at is not null) '
    '           or not memory._checkpoints_have_expired(c.user_id, c.thread_id)) '
    '      order by c.checkpoint_id desc fetch first ($7) rows with ties) as n '
    'cross join lateral memory._whole_checkpoint(n.c, n.blobless) as w '
    'order by w.checkpoint_id desc',
    case when thread_id is not null then 'and c.thread_id = $2' end,
    case when namespace is not null then 'and c.namespace = $3' end,
    case when checkpoint_id is not null then 'and c.checkpoint_id = $4' end,
    case when filter is not null then 'and c.metadata @> $5' end,
    case when before is not null then 'and c.checkpoint_id < $6' end)
  using user_id, thread_id, namespace, checkpoint_id, filter, before, row_limit;
end;
$$;
comment on function memory.list_checkpoints(text, text, text, text, jsonb, text, int) is
'A user''s checkpoints with their values, newest first: of one thread or all, of one namespace or all, those whose '
'metadata contains the filter, and those before a checkpoint, by whose id the next page is read. A page of all threads '
'may have more than row_limit rows, because a copied thread has checkpoints of the same ids.';
