-- Removes changes whose artifact is gone from the lists of changes, because a key may have an artifact's first words.
-- The second table comes second: a session that is numbering changes has moved its rows there when the first statement
-- ends.
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
