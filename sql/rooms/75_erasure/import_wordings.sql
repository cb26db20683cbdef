-- The memories of an export, of which several current ones may have the same words: earlier versions stored them once
-- per type. One stays current and hides the others as duplicates, so that none is lost. It is the one that is stored
-- already, by an earlier part of the export, or else the one that has not expired, was stated, is more than a plain
-- fact, and came first, in this order, as in an upgrade.
create or replace function memory._one_of_each_wording(p_user_id text, p_rows jsonb)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return (
    select jsonb_agg(
      case when w.winner <> w.memory_id
        then w.value || jsonb_build_object(
          'superseded_by', w.winner, 'supersede_reason', 'duplicate', 'superseded_at', statement_timestamp())
        else w.value end
      order by w.place)
    from (
      select r.*,
        case when r.is_current then coalesce(
          (select m.memory_id::text
           from memory.memories as m
           where m.user_id = p_user_id and m.agent_id = r.agent_id and m.content_hash = r.content_hash
             and memory._is_current(m)),
          first_value(r.memory_id) over (
            partition by r.is_current, r.agent_id, r.content_hash
            order by r.has_expired, r.is_stated desc, r.memory_type = 'fact', r.created_at, r.place)) end as winner
      from (
        select i.value, i.place, i.value ->> 'memory_id' as memory_id, i.value ->> 'memory_type' as memory_type,
          i.value ->> 'created_at' as created_at, coalesce(i.value ->> 'agent_id', 'default') as agent_id,
          memory._states(coalesce(i.value ->> 'source', 'user')) as is_stated,
          memory._content_hash(i.value ->> 'content') as content_hash,
          coalesce((i.value ->> 'expires_at')::timestamptz <= statement_timestamp(), false) as has_expired,
          num_nonnulls(i.value ->> 'superseded_at', i.value ->> 'deleted_at') = 0 as is_current
        from jsonb_array_elements(p_rows) with ordinality as i (value, place)) as r) as w);
end;
$$;
