-- needs pgvector on the search_path

-- While all that a user has said is short (policy context.whole_history_below, in tokens), sending all of it costs less
-- than choosing: it only grows at its end, so a provider's cache of prompts keeps it, and nothing is missed.

-- Everything that was said outside the thread, and in the part of the thread that was compressed: messages as recall
-- shows them. Empty unless the policy asks for the whole history, and unless the history has fewer tokens
-- together with the rest of the thread and fits into p_max_tokens with it (null: any number fits).
create or replace function memory._whole_history(p_asking memory._asking, p_max_tokens int)
returns memory._recalled[]
language plpgsql stable parallel unsafe
as $$
declare
  below constant int := (p_asking.policy #>> '{context,whole_history_below}')::int;
  history memory._recalled[] := array[]::memory._recalled[];
  room bigint;
  message record;
  said text;
  line text;
  tokens int;
begin
  if below is null then
    return history;
  end if;
  room := least(below, p_max_tokens) - memory._whole_thread_tokens(p_asking);
  for message in
    select m.thread_id, m.seq, m.role, m.content, m.metadata, m.created_at
    from memory._searchable_messages(p_asking.user_id) as m
    where not (m.thread_id = p_asking.thread_id and m.is_active) and m.role not in ('system', 'developer')
      and (p_asking.agent_id is null or m.agent_id = p_asking.agent_id)
    order by m.user_id, m.thread_id, m.seq
  loop
    said := memory._without_recalled(message.content);
    continue when said !~ e'\\S' or memory._is_held_back(
        p_asking.user_id, message.thread_id, message.seq, message.role, message.metadata, message.content)
      or memory._awaits_verdict(
        p_asking.user_id, message.thread_id, message.seq, message.role, message.metadata);
    line := memory._recalled_line(message.role, message.metadata, said);
    tokens := memory._tokens_at_most(e'\n' || line);
    history := history || row(
      message.thread_id, message.seq, line, tokens,
      memory._day_of(message.created_at, memory._zone_of(p_asking.user_id, message.thread_id, message.seq)),
      message.created_at, null, null, null, null, null, null)::memory._recalled;
    room := room - tokens;
    exit when room < 0;
  end loop;
  if room < (select memory._recall_tokens(0, count(distinct h.said_on)) from unnest(history) as h) then
    return array[]::memory._recalled[];
  end if;
  return history;
end;
$$;
