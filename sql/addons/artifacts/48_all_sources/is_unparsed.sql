-- Whether parts of artifacts of a user wait to be parsed. Not those of an upload that no artifact names yet.
create or replace function memory._artifacts_is_unparsed(p_user_id text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select from memory.artifact_parts as p
    where p.user_id = p_user_id and not p.is_parsed
      -- With offset 0 each is looked up by itself: a plan made while the tables were empty would read all artifacts of
      -- the user.
      and exists (
        select from memory.artifacts as a
        where a.user_id = p_user_id and a.content_id = p.content_id offset 0));
end;
$$;
