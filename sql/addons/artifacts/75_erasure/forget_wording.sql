-- The keys of artifacts that are gone leave the list of changes: a key may be made of an artifact's first words. Rows
-- that somebody is numbering are in the second table when the first statement ends.
create or replace function memory._artifacts_forget_wording(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.new_changes as c
  where c.user_id = p_user_id and c.source = 'artifact' and c.id <> ''
    and (select a.key from memory.artifacts as a where a.user_id = p_user_id and a.key = c.id) is null;
  delete from memory.changes as c
  where c.user_id = p_user_id and c.source = 'artifact' and c.id <> ''
    and (select a.key from memory.artifacts as a where a.user_id = p_user_id and a.key = c.id) is null;
end;
$$;
