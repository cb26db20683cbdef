-- Users who own at least one text that can be searched.
create or replace function memory._users_with_texts()
returns setof text
language sql stable parallel safe
begin atomic
  select t.user_id from memory.threads as t where t.next_seq > 0
  union
  select t.user_id from memory.texts as t;
end;
