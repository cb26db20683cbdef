-- Notes that a thread was added, or got another title or metadata, for memory.list_changes().
create or replace function memory._thread_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not ({{are copied}}) then
    perform memory._note_change(new.user_id, 'thread', new.thread_id,
                                case tg_op when 'INSERT' then 'added' else 'changed' end);
  end if;
  return null;
end;
$$;
