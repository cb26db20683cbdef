-- How far a kind of work has come; never back.
create or replace function memory._set_mark(user_id text, scope text, kind text, reached bigint)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into memory.marks as k (user_id, scope, kind, position)
  values (_set_mark.user_id, _set_mark.scope, _set_mark.kind, _set_mark.reached)
  on conflict on constraint marks_pkey do update set position = greatest(k.position, excluded.position);
end;
$$;
