-- Users with a text that a new embedding model has to embed.
create or replace function memory._backfill_users()
returns setof text
language plpgsql stable parallel safe
as $$
begin
  return query select u.user_id from memory._users_with_texts() as u (user_id);
end;
$$;
