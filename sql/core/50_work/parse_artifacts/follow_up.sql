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
  return exists (
      select from memory.artifact_parts as p
      where p.user_id = p_user_id and not p.is_parsed
        -- Not those of an upload that no artifact names yet. With offset 0 each is looked up by itself: a plan made
        -- while the tables were empty would read all artifacts of the user.
        and exists (
          select from memory.artifacts as a
          where a.user_id = p_user_id and a.content_id = p.content_id offset 0))
    or exists (select from memory.marks as k where k.user_id = p_user_id and k.kind = 'language');
end;
$$;
