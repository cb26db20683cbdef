create or replace function memory.export_user(
  user_id text, kinds text[] default null, max_rows int default null, after jsonb default null
)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' -- times are written alike everywhere
set extra_float_digits = 1
set bytea_output = 'hex'
as $$
declare
  known constant text[] := array(select k.kind from memory._export_kinds() as k order by k.place);
  wanted text[];
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_list('kinds', kinds);
  if (kinds <@ known) is false then
    perform memory._refuse('kinds', format('%s is not a choice of kinds', kinds),
      'Known kinds: ' || array_to_string(known, ', ') || '; leave it out for all.');
  elsif max_rows < 1 then
    perform memory._refuse('max_rows', format('%s is less than 1', max_rows), 'Leave it out for all rows.');
  elsif after is not null and max_rows is null then
    perform memory._refuse('max_rows', 'must not be null with after', 'Pass how many rows the part may have.');
  end if;
  wanted := array(select k from unnest(known) with ordinality as u (k, place)
                  where (k = any (kinds)) is not false order by u.place);
  if after is not null then
    if (after ->> 'kind' = any (wanted) and jsonb_typeof(after -> 'key') in ('array', 'null')) is not true then
      perform memory._refuse('after', 'is not the value of next in an earlier part',
        'Pass the member next of the part before, with the same kinds.');
    end if;
    wanted := wanted[array_position(wanted, after ->> 'kind'):];
  end if;
  perform memory._audit('export_user',
    jsonb_strip_nulls(jsonb_build_object('kinds', kinds, 'after', after ->> 'kind')), user_id);
  return memory._export(user_id, wanted, max_rows, after -> 'key');
end;
$$;
comment on function memory.export_user(text, text[], int, jsonb) is
'All that is stored about a user as a JSON object, see docs/export.schema.json: for each kind an array of rows in a '
'stable order. Secrets are sealed, as in the table. Embeddings, words and counters are left out, because '
'memory.import_user() makes them again. More than 250 MB are refused (54000); with max_rows the object is a part of so '
'many rows, or of 32 MB, and its member next, null in the last part, is passed as after to get the part that follows.';

-- The export, as of one moment, because the statements of a stable function all see what its caller's statement sees. A
-- part continues after the last row of the part before, found by its key. When parts counted rows, PostgreSQL read and
-- sorted all rows for each part: 1.6 s of CPU for each 1,000 of 100,000 messages.
create or replace function memory._export(p_user_id text, p_kinds text[], p_max_rows int, p_after jsonb)
returns jsonb
language plpgsql stable parallel unsafe -- an error is handled
set enable_sort = off -- without statistics PostgreSQL would sort all remaining rows for each part
as $$
declare
  max_bytes constant int := case when p_max_rows is null then memory._max_export_bytes() else 32000000 end;
  is_first constant boolean := p_after is null;
  export jsonb := jsonb_build_object('format', memory._export_format(), 'format_version', 1, 'user_id', p_user_id);
  kind text;
  item jsonb;
  key jsonb; -- the key of the row, its place in the order
  rows jsonb[];
  number int := 0;
  bytes bigint := 0;
  next jsonb;
begin
  foreach kind in array p_kinds loop
    rows := '{}';
    for item, key in execute memory._export_query(format('memory.%I', kind), p_after) using p_user_id, p_after loop
      -- Takes at least one row, so that the export continues after a long row.
      if number = p_max_rows or number > 0 and bytes + pg_column_size(item) > max_bytes then
        next := jsonb_build_object('kind', kind, 'key', p_after);
        exit;
      end if;
      rows := rows || item;
      number := number + 1;
      bytes := bytes + pg_column_size(item);
      p_after := key;
    end loop;
    export := export || jsonb_build_object(kind, rows);
    if p_max_rows is not null then
      -- A part has only one kind, because the members of a jsonb do not keep the order of the import.
      return export || jsonb_build_object('next', case
        when next is not null then next
        when kind <> p_kinds[cardinality(p_kinds)]
          then jsonb_build_object('kind', p_kinds[array_position(p_kinds, kind) + 1], 'key', null) end);
    end if;
    exit when next is not null;
    p_after := null;
  end loop;
  if next is not null then
    perform memory._refuse('user_id', format('the export of this user has more than %s MB', max_bytes / 1000000),
      '"agent-memory users export" writes it in parts, and so does export_user() with max_rows; '
      '"agent-memory move" copies such a user to another database.', '54000');
  end if;
  return export;
exception
  when data_exception then -- p_after has a key with other members
    if is_first then
      raise;
    end if;
    perform memory._refuse('after', 'is not the value of next in an earlier part', 'Pass it unchanged.');
    return null;
end;
$$;

-- The greatest size of a part. PostgreSQL takes no jsonb of more than 256 MiB.
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

-- A query over the rows of a kind as they are exported. item is a row, and key is its place in the order of the primary
-- key. The parameters of the query are the user and, if the export continues, the key after which it continues.
create or replace function memory._export_query(p_table regclass, p_after jsonb, p_with_expired boolean default false)
returns text
language plpgsql stable parallel safe
as $$
declare
  plain_name constant text := (select c.relname from pg_class as c where c.oid = p_table);
  exported record;
  item text;
  names text[];
  keys text;
  key_before text;
begin
  select k.* into exported from memory._export_kinds() as k where k.kind = plain_name;
  item := format('to_jsonb(t) - %L::text[]', exported.left_out || array['user_id'])
    || coalesce((select string_agg(format(' || jsonb_build_object(%L, %s)', s.key, s.value), '')
                 from jsonb_each_text(exported.sent) as s), '');
  names := array(
    select a.attname
    from pg_constraint as c
    cross join lateral unnest(c.conkey) with ordinality as k (number, place)
    join pg_attribute as a on a.attrelid = c.conrelid and a.attnum = k.number
    where c.conrelid = p_table and c.contype = 'p' and a.attname <> 'user_id'
    order by k.place);
  names := coalesce(exported.sorted_by, names);
  select string_agg('t.' || n.name, ', ' order by n.place),
    string_agg(format('($2 ->> %s)::%s', n.place - 1, format_type(a.atttypid, null)), ', ' order by n.place)
  into keys, key_before
  from unnest(names) with ordinality as n (name, place)
  join pg_attribute as a on a.attrelid = p_table and a.attname = n.name;
  return format('select %s as item, jsonb_build_array(%s) as key from %s as t where t.user_id = $1 and (%s)',
      item, keys, p_table,
      exported.condition || case when p_with_expired then '' else ' and (' || exported.unexpired || ')' end)
    || case when jsonb_typeof(p_after) = 'array' then format(' and (%s) > (%s)', keys, key_before) else '' end
    || format(' order by %s', keys);
end;
$$;
