-- The users whose texts must be parsed anew, because search.language was changed.
create or replace function memory._parse_artifacts_users()
returns setof text
language sql stable parallel safe
begin atomic
  select distinct k.user_id from memory.marks as k where k.kind = 'language';
end;
