-- needs pgvector on the search_path

-- What the question asks for within p_room tokens: memories beside those that stand in every context (p_standing), and
-- recalled messages, at most p_recall_room tokens of them (null: no limit). p_for_memories: the least tokens for the
-- memories, null for no memories; they also get what recall leaves if p_fill. p_again: what was recalled for this
-- question before, which stands there again. The context shows the thread from p_from_seq on, the request, what stays
-- recalled before earlier messages (p_kept), and p_said. recalled: the messages that are recalled.
create or replace function memory._asked_for(
  p_asking memory._asking, p_room int, p_recall_room int, p_for_memories int, p_fill boolean,
  p_standing memory._offer[], p_again memory._recalled[], p_from_seq bigint, p_request bigint,
  p_kept memory._recalled[], p_said text,
  out offers memory._offer[], out recalled memory._recalled[]
)
language plpgsql stable parallel unsafe
as $$
declare
  standing constant uuid[] := array(select o.id::uuid from unnest(p_standing) as o where o.why_not is null);
  found record; -- of memory._recall_candidates()
  why_nothing text := p_asking.why_no_recall; -- is recalled
  lines memory._offer[] := array[]::memory._offer[]; -- the memories
  memory_tokens int := 0;
  twice record; -- of memory._said_twice()
  part memory._offer[];
begin
  recalled := p_again;
  if recalled = '{}' and why_nothing is null and num_nonnulls(p_asking.query, p_asking.target) > 0 then
    if p_room > 0 then
      found := memory._recall_candidates(
        p_asking, p_from_seq, p_request, array(select k.thread_id || '/' || k.seq from unnest(p_kept) as k),
        least(p_room, p_recall_room) - memory._fence_tokens());
      why_nothing := found.why_not;
      recalled := memory._without_said(found.candidates, concat_ws(e'\n', (
        select m.content from memory.messages as m
        where m.user_id = p_asking.user_id and m.thread_id = p_asking.thread_id and m.seq = p_request), p_said));
    else
      why_nothing := 'no tokens are left';
    end if;
  elsif not p_asking.explains then
    why_nothing := null;
  end if;
  offers := case when why_nothing is null then '{}' else array[memory._left_out('recalled', why_nothing, 0)] end;
  if p_for_memories is not null then
    memory_tokens := least(p_room, greatest(p_for_memories, case when p_fill then p_room - (
      select memory._recall_tokens(coalesce(sum(c.token_count), 0), count(distinct c.said_on))
      from unnest(recalled) as c where c.why_not is null) end));
    lines := memory._memory_offers(
      p_asking, case p_asking.layout when 'cached' then 'asked' else 'all' end, 9,
      (p_asking.policy #>> '{context,max_memories}')::int - cardinality(standing),
      memory_tokens - memory._fence_tokens(), true, standing);
  end if;
  twice := memory._said_twice(
    p_asking.user_id, p_standing || lines, memory._that_fit(recalled, p_room - memory_tokens));
  -- No other memory takes the place of one that the messages say, because they use its tokens.
  for place in 1 .. cardinality(lines) loop
    if (lines[place]).id = any (twice.memories) then
      lines[place].why_not := 'the recalled messages say it';
    end if;
  end loop;
  part := memory._memories_part(lines);
  for place in 1 .. cardinality(recalled) loop
    if (recalled[place]).thread_id || '/' || (recalled[place]).seq = any (twice.messages) then
      recalled[place].why_not := coalesce((recalled[place]).why_not, 'a memory says it');
    end if;
  end loop;
  recalled := memory._that_fit(recalled, p_room - memory._shown_tokens(part));
  offers := offers || part || memory._recalled_part(10, 0, recalled) || array(
    select memory._left_out('recalled', c.why_not, c.token_count, c.thread_id || '/' || c.seq)
    from unnest(recalled) as c where c.why_not is not null);
  recalled := array(select c from unnest(recalled) as c where c.why_not is null);
end;
$$;
