create or replace function memory.export_user(
  user_id text, kinds text[] default null, from_row int default 0, max_rows int default null
)
returns jsonb
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' -- so that times are written alike everywhere
set extra_float_digits = 1
as $$
declare
  known constant text[] := array(select k.kind from memory._export_kinds() as k order by k.place);
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_list('kinds', kinds);
  if (kinds <@ known) is false then
    perform memory._refuse('kinds', format('%s is not a choice of kinds', kinds),
      'Known kinds: ' || array_to_string(known, ', ') || '; leave it out for all.');
  end if;
  if max_rows < 1 then
    perform memory._refuse('max_rows', format('%s is less than 1', max_rows), 'Leave it out for all rows.');
  elsif (from_row >= 0) is not true then
    perform memory._refuse('from_row', format('%s is not a number from 0', coalesce(from_row::text, 'null')),
      'It counts the rows of each kind from its beginning.');
  end if;
  perform memory._audit('export_user',
    jsonb_strip_nulls(jsonb_build_object('kinds', kinds, 'from_row', nullif(from_row, 0))), user_id);
  return memory._export(user_id, known, kinds, from_row, max_rows);
end;
$$;
comment on function memory.export_user(text, text[], int, int) is
'All that is stored about a user as a JSON object, see docs/export.schema.json: for each kind an array of rows in a '
'stable order. Secrets are sealed, as in the table. Embeddings, words and counters are left out, because '
'memory.import_user() makes them again. kinds, from_row and max_rows export a part; more than 250 MB at once are '
'refused (54000).';

-- The export, of one moment: the statements of a stable function all see what its caller's statement sees.
create or replace function memory._export(
  p_user_id text, p_known text[], p_kinds text[], p_from_row int, p_max_rows int
)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  too_large constant text := '"agent-memory users export" writes it in parts, and so does export_user() with kinds, '
    'from_row and max_rows; "agent-memory move" copies such a user to another database.';
  export jsonb;
  kind text;
  size bigint;
  total bigint := 0;
  rows jsonb;
begin
  export := jsonb_build_object('format', memory._export_format(), 'format_version', 1, 'user_id', p_user_id);
  foreach kind in array p_known loop
    continue when (kind = any (p_kinds)) is false;
    execute memory._export_query(kind, 'sum(pg_column_size(e.item))') into size
    using p_user_id, p_max_rows, p_from_row;
    total := total + coalesce(size, 0);
    if total > memory._max_export_bytes() then
      perform memory._refuse('user_id', format('the export of this user has more than %s MB', total / 1000000),
        too_large, '54000');
    end if;
    execute memory._export_query(kind, 'jsonb_agg(e.item order by e.place)') into rows
    using p_user_id, p_max_rows, p_from_row;
    export := export || jsonb_build_object(kind, coalesce(rows, '[]'));
  end loop;
  return export;
end;
$$;

-- PostgreSQL takes no jsonb of more than 256 MiB.
create or replace function memory._max_export_bytes()
returns int
language sql immutable parallel safe
begin atomic
  select 250000000;
end;

create or replace function memory._export_format()
returns text
language sql immutable parallel safe
begin atomic
  select text 'agent_memory user';
end;

-- The tables that are exported, in the order in which they are imported. left_out are columns that are made again, or
-- that only mean something to this database. Numbers of jobs are not exported: another database gives its own.
create or replace function memory._export_kinds()
returns table (place int, kind text, left_out text[], condition text)
language plpgsql immutable parallel safe
as $$
begin
  return query
  values
    (1, 'policies', array[]::text[], 'true'),
    (2, 'threads', array['message_count', 'active_tokens'], 'true'),
    (3, 'artifacts', array['content_id'], 'true'),
    (4, 'messages', array['search_vector', 'search_keys'], 'true'),
    (5, 'quarantined_messages', array[]::text[], 'true'),
    (6, 'summaries', array['search_vector'], 't.status <> ''processing'''),
    (7, 'memory_scopes', array['memory_count'], 'true'),
    (8, 'memories', array['content_hash', 'search_vector', 'long_search_vector', 'is_stated'], 'true'),
    (9, 'memory_history', array[]::text[], 'true'),
    (10, 'documents', array[]::text[], 'true'),
    (11, 'secrets', array[]::text[], 'true'),
    (12, 'secret_reads', array[]::text[], 'true'),
    (13, 'idempotency_keys', array[]::text[], 'true'),
    (14, 'marks', array[]::text[], 't.kind <> ''claims'''),
    (15, 'jobs', array['job_id', 'worker', 'lease_token', 'lease_expires_at', 'tokens_reserved', 'next_request'],
     't.status in (''completed'', ''dead'')'),
    (16, 'model_calls', array['job_id'], 'true');
end;
$$;

-- A query over the rows of a kind as they are exported: e.item is a row, e.place its place. Its parameters are the
-- user, the limit and the offset. The order is that of the primary key, where rows have one that is exported.
create or replace function memory._export_query(p_kind text, p_select text)
returns text
language plpgsql stable parallel safe
as $$
declare
  exported record;
  item text;
  sorted text;
begin
  select k.* into exported from memory._export_kinds() as k where k.kind = p_kind;
  item := format('to_jsonb(t) - %L::text[]', exported.left_out || array['user_id']);
  if p_kind = 'artifacts' then -- whose content lies in parts
    item := item || ' || jsonb_build_object(''content'', memory._content_slice(t.user_id, t.content_id))';
  end if;
  sorted := coalesce((
    select string_agg(format('t.%I', a.attname), ', ' order by k.place)
    from pg_constraint as c
    cross join lateral unnest(c.conkey) with ordinality as k (number, place)
    join pg_attribute as a on a.attrelid = c.conrelid and a.attnum = k.number
    where c.conrelid = format('memory.%I', p_kind)::regclass and c.contype = 'p' and a.attname <> 'user_id'
    having not bool_or(a.attname = any (exported.left_out))), 't::text');
  if p_kind = 'jobs' then
    sorted := 't.job_id';
  end if;
  return format(
    'select %s from (select row_number() over (order by %s) as place, %s as item from memory.%I as t '
    'where t.user_id = $1 and %s order by 1 limit $2 offset $3) as e',
    p_select, sorted, item, p_kind, exported.condition);
end;
$$;
