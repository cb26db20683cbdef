-- Removes forgotten texts from rows that stay because they say something else. A text that contains a forgotten one is
-- replaced by '[forgotten]' as a whole. Names stay, because applications find rows by them: ids of threads and agents,
-- keys, sources, names of secrets. Settings and documents of the application stay as well.
create or replace function memory._forget_wording(p_user_id text, p_wordings text[], p_agents text[], p_threads text[])
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  patterns constant text[] := memory._patterns_of(p_wordings);
begin
  -- The versions of memories come after the memories, because a change of a memory adds a version.
  {{each table with wording:
  update memory.<table> as t set
<forgotten as code>
  where t.user_id = p_user_id and memory._may_state(concat_ws(' ', <wording as code>), patterns)
    and memory._json_states_any(jsonb_build_array(<wording as code>), p_wordings) and <wording_if as code>;}}
  {{each addon with forget_wording: perform memory._<addon>_forget_wording(p_user_id);}}
  -- Removes forgotten texts from the reasons of earlier receipts, because receipts stay for good.
  update memory.receipts as r set reason = '[forgotten]'
  from memory.erasure_keys as k
  where r.user_hash = memory._keyed_hash(k, p_user_id) and memory._states_any(r.reason, p_wordings);
end;
$$;

-- A JSON value with '[forgotten]' in place of each text and key that contains one of these wordings. If a value is
-- nested deeper than 100 levels and contains a wording, it is removed whole: at about 1,000 levels the stack of the
-- server ends.
create or replace function memory._json_forgetting(p_value jsonb, p_wordings text[], p_depth int default 0)
returns jsonb
language plpgsql immutable parallel unsafe
as $$
declare
  mark constant text := '[forgotten]';
begin
  if not memory._json_states_any(p_value, p_wordings) then
    return p_value;
  elsif p_depth = 100 or jsonb_typeof(p_value) = 'string' then
    return to_jsonb(mark);
  elsif jsonb_typeof(p_value) = 'array' then
    return jsonb_agg(memory._json_forgetting(i.value, p_wordings, p_depth + 1) order by i.place)
    from jsonb_array_elements(p_value) with ordinality as i (value, place);
  end if;
  return jsonb_object_agg(case when memory._states_any(m.key, p_wordings) then mark else m.key end,
    memory._json_forgetting(m.value, p_wordings, p_depth + 1))
  from jsonb_each(p_value) as m;
end;
$$;
