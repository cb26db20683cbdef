-- Where the rules are switched on again, sweeps look at what was stored meanwhile.
create or replace function memory._policy_after_update()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may set policies need not have rights on marks
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._judge_stored(nullif(new.user_id, ''));
  return null;
end;
$$;
