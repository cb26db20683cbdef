-- The languages that the built-in model has met and cannot read, with how many messages: it remembers nothing of these.
-- The results of jobs tell, as long as they are kept. Null without such languages, or where another model is active.
create or replace function memory._unread_languages()
returns text
language plpgsql stable parallel safe
as $$
begin
  if (select m.provider from memory.models as m where m.kind = 'chat' and m.is_active) is distinct from 'local' then
    return null;
  end if;
  return (
    select string_agg(format('%s in %s', u.messages, u.language), ', ' order by u.messages desc, u.language)
    from (
      select l.key as language, sum(l.value::numeric) as messages
      from (select j.* from memory.jobs as j
            where j.status in ('completed', 'dead') order by j.finished_at desc limit 1000) as n
      cross join jsonb_each_text(n.result -> 'unread') as l
      where n.status = 'completed' and n.kind = 'extract_memories'
      group by l.key order by sum(l.value::numeric) desc, l.key limit 10) as u);
end;
$$;
