-- Another job follows while parts of the user's artifacts wait to be parsed, or other texts to be parsed anew.
create or replace function memory._parse_artifacts_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return case when memory._has_unparsed_texts(p_job.user_id) then jsonb '{}' end;
end;
$$;

create or replace function memory._has_unparsed_texts(p_user_id text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (select from memory.marks as k where k.user_id = p_user_id and k.kind = 'language')
    {{each addon with is_unparsed: or memory._<addon>_is_unparsed(p_user_id)}}
    ;
end;
$$;
