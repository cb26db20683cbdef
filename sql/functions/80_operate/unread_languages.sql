-- The languages that the built-in model met and cannot read: nothing is remembered of messages in them. What finished
-- jobs say counts, as long as they are kept, and while the built-in model is the active one.
create or replace function memory._check_languages()
returns table (ok boolean, detail text)
language plpgsql stable parallel safe
as $$
declare
  found text;
begin
  if (select m.provider from memory.models as m where m.kind = 'chat' and m.is_active) = 'local' then
    select string_agg(format('%s in %s', u.messages, u.language), ', ' order by u.messages desc, u.language) into found
    from (
      select l.key as language, sum(l.value::numeric) as messages
      from (select j.* from memory.jobs as j
            where j.status in ('completed', 'dead') order by j.finished_at desc limit 1000) as n
      cross join jsonb_each_text(n.result -> 'unread') as l
      where n.status = 'completed' and n.kind = 'extract_memories'
      group by l.key order by sum(l.value::numeric) desc, l.key limit 10) as u;
  end if;
  return query select found is null, coalesce(
    'the built-in model could not read messages (' || found || '), so nothing is remembered of them: register and '
      'activate a chat model, which reads every language',
    'no message was in a language that the chat model cannot read');
end;
$$;
