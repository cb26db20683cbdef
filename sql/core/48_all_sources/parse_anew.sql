-- After a change of search.language (10_policy/languages.sql), jobs parse a user's texts anew. They store only words
-- that have changed.

-- Parses texts of a user after a change of search.language: at most 1,000, up to p_max_bytes of words in all, but at
-- least one. A watermark of kind parsed_anew names the last text. Its position is the position of the change, so that a
-- later change begins anew. If the worker's job dies, memory.sweep() queues another job.
create or replace function memory._parse_anew(p_user_id text, p_max_bytes int)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  changed_at constant bigint := (
    select max(k.position) from memory.marks as k where k.user_id = p_user_id and k.kind = 'language');
  last jsonb; -- source and id
  of_source record;
begin
  if changed_at is null then
    return;
  end if;
  select k.scope::jsonb into last from memory.marks as k
  where k.user_id = p_user_id and k.kind = 'parsed_anew' and k.position = changed_at;
  last := coalesce(last, '["", ""]');
  for of_source in
    select d.source, array_agg(d.id order by d.id) as ids
    from (
      select n.*, sum(4000 + n.bytes) over (order by n.source, n.id) as so_far,
        row_number() over (order by n.source, n.id) as place
      from (
        select t.source, t.id, pg_column_size(t.words) as bytes from memory.texts as t
        where t.user_id = p_user_id and (t.source, t.id) > (last ->> 0, last ->> 1)
        order by t.source, t.id limit 1000
        for no key update nowait) as n) as d -- so that no text is stored that a source has changed meanwhile
    where d.so_far <= p_max_bytes or d.place = 1
    group by d.source
    order by d.source
  loop
    perform memory._store_texts(p_user_id, of_source.source, of_source.ids);
    last := jsonb_build_array(of_source.source, of_source.ids[cardinality(of_source.ids)]);
  end loop;
  delete from memory.marks as k where k.user_id = p_user_id and k.kind = 'parsed_anew';
  if exists (select from memory.texts as t
             where t.user_id = p_user_id and (t.source, t.id) > (last ->> 0, last ->> 1)) then
    insert into memory.marks (user_id, scope, kind, position)
    values (p_user_id, last::text, 'parsed_anew', changed_at);
  else
    delete from memory.marks as k where k.user_id = p_user_id and k.kind = 'language' and k.position <= changed_at;
  end if;
end;
$$;
