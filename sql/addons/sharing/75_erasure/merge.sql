-- Gives the grants of p_from, who is merged into p_into, to p_into, who keeps the stronger access. The notes of texts
-- that p_from wrote in spaces go to p_into as well.
create or replace function memory._sharing_merge(p_from text, p_into text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  with granted as (
    delete from memory.space_grants as g where g.member = p_from returning g.*
  )
  insert into memory.space_grants as g (user_id, member, access, granted_at)
  select f.user_id, p_into, f.access, f.granted_at from granted as f
  on conflict on constraint space_grants_pkey do update set access = greatest(g.access, excluded.access);
  with written as (
    delete from memory.space_writes as w where w.member = p_from returning w.*
  )
  insert into memory.space_writes (user_id, member, source, id)
  select f.user_id, p_into, f.source, f.id from written as f
  on conflict on constraint space_writes_pkey do nothing;
end;
$$;
