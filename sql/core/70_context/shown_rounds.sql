-- needs pgvector on the search_path

-- What was recalled for an earlier message of the thread stays where it stood (policy context.keep_recalled), because a
-- prompt that changes there would not be found in the provider's cache, and recalling the same again for the next
-- question costs more than keeping it. A row per round says what was shown; its texts are read from the messages, so
-- what was deleted, has expired or is in quarantine is gone here, too. A server that cannot write does without.

-- The rounds of a thread of which something stays: newest first, the first thousand. same_query, max_tokens: whether
-- the newest of them was asked for the same, and within how many tokens.
create or replace function memory._shown_rounds(
  p_asking memory._asking, out seqs bigint[], out tokens int[], out same_query boolean, out max_tokens int
)
language plpgsql stable parallel safe
as $$
begin
  if p_asking.layout = 'cached' and (p_asking.policy #>> '{context,keep_recalled}')::boolean then
    select array_agg(r.seq), array_agg(r.token_count), (array_agg(r.query_hash))[1] = memory._round_hash(p_asking),
      (array_agg(r.max_tokens))[1]
    into seqs, tokens, same_query, max_tokens
    from (
      select s.seq, s.token_count, s.query_hash, s.max_tokens from memory.shown_rounds as s
      where s.user_id = p_asking.user_id and s.thread_id = p_asking.thread_id
        and s.agent_id = coalesce(p_asking.agent_id, '')
      order by s.seq desc limit 1000) as r;
  end if;
end;
$$;

-- The recalled messages of the rounds from p_from_seq on and before p_to_seq as candidates once more; of_hit is the seq
-- of the round. Messages of this thread from p_thread_from on stand in the context already.
create or replace function memory._shown_before(
  p_asking memory._asking, p_from_seq bigint, p_to_seq bigint, p_thread_from bigint
)
returns memory._recalled[]
language plpgsql stable parallel unsafe
as $$
begin
  return array(
    select row(
      m.thread_id, m.seq,
      memory._recalled_line(m.role, m.metadata, memory._excerpt(memory._without_recalled(m.content), r.passage)),
      r.tokens, r.said_on, m.created_at, r.score, r.relevance, r.round, null, r.passage, null)::memory._recalled
    from (
      select s.seq as round, e.place, e.message ->> 'thread_id' as thread_id, (e.message ->> 'seq')::bigint as seq,
        (e.message ->> 'said_at')::timestamptz as said_at,
        (e.message ->> 'tokens')::int as tokens, (e.message ->> 'said_on')::date as said_on,
        (e.message ->> 'score')::real as score, (e.message ->> 'relevance')::real as relevance,
        case when e.message ? 'passage' then
          array[(e.message #>> '{passage,0}')::int, (e.message #>> '{passage,1}')::int] end as passage
      from memory.shown_rounds as s
      cross join lateral jsonb_array_elements(s.messages) with ordinality as e (message, place)
      where s.user_id = p_asking.user_id and s.thread_id = p_asking.thread_id
        and s.agent_id = coalesce(p_asking.agent_id, '') and s.seq >= p_from_seq and s.seq < p_to_seq) as r
    cross join lateral (
      select v.* from memory._searchable_messages(p_asking.user_id) as v
      where v.thread_id = r.thread_id and v.seq = r.seq
        and v.created_at = r.said_at -- a thread of the same name may have been begun anew
      offset 0 -- so that each message is looked up by its key
    ) as m
    where not (m.thread_id = p_asking.thread_id and m.seq >= p_thread_from)
      and not memory._is_held_back(
        p_asking.user_id, m.thread_id, m.seq, m.role, m.metadata, left(m.content, 65536))
      and not memory._awaits_verdict(p_asking.user_id, m.thread_id, m.seq, m.role, m.metadata)
    order by r.round, r.place);
end;
$$;

-- Keeps what a context has recalled for a message, and forgets rounds before the beginning of the thread. A reader
-- waits for nobody and fails for nobody because of that: if somebody deletes or clears the thread, or keeps a round of
-- the same message, nothing is kept, which costs the next context a search. The lock of the thread keeps out who
-- deletes, clears or forgets the thread, and lets messages be appended.
create or replace function memory._keep_round(
  p_asking memory._asking, p_request bigint, p_from_seq bigint, p_max_tokens int, p_shown memory._recalled[]
)
returns void
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms'
as $$
declare
  agent constant text := coalesce(p_asking.agent_id, '');
begin
  if p_request is null or p_asking.layout <> 'cached' or p_asking.explains
    or not (p_asking.policy #>> '{context,keep_recalled}')::boolean
    or current_setting('transaction_read_only')::boolean
    or current_setting('transaction_isolation') <> 'read committed' then
    return;
  end if;
  perform from memory.threads as t
  where t.user_id = p_asking.user_id and t.thread_id = p_asking.thread_id for key share skip locked;
  if not found then
    return;
  end if;
  delete from memory.shown_rounds as s
  where s.user_id = p_asking.user_id and s.thread_id = p_asking.thread_id and s.agent_id = agent
    and s.seq < least(p_from_seq, p_request);
  insert into memory.shown_rounds as s (
    user_id, thread_id, seq, agent_id, query_hash, max_tokens, token_count, messages)
  select p_asking.user_id, p_asking.thread_id, p_request, agent, memory._round_hash(p_asking), p_max_tokens,
    memory._recall_tokens(sum(u.token_count), count(distinct u.said_on)),
    jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'thread_id', u.thread_id, 'seq', u.seq, 'said_at', u.said_at, 'tokens', u.token_count, 'said_on', u.said_on,
      'score', u.score, 'relevance', u.relevance, 'passage', u.passage)) order by u.place)
  from unnest(p_shown) with ordinality as u (
    thread_id, seq, line, token_count, said_on, said_at, score, relevance, of_hit, wording, passage, why_not, place)
  having count(*) > 0
  on conflict (user_id, thread_id, agent_id, seq) do update
  set query_hash = excluded.query_hash, max_tokens = excluded.max_tokens, token_count = excluded.token_count,
    messages = excluded.messages, shown_at = statement_timestamp();
exception when lock_not_available or deadlock_detected then
  null;
end;
$$;

-- What the question of a round is compared by.
create or replace function memory._round_hash(p_asking memory._asking)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return encode(sha256(convert_to(coalesce(p_asking.query, p_asking.target::text), 'UTF8')), 'hex');
end;
$$;
