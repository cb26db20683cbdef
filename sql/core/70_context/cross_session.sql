-- needs pgvector on the search_path

-- Earlier conversations, if the query has one of the policy's trigger phrases: the best five among archived
-- conversations and the summaries of other threads whose relevance reaches the threshold, each conversation once,
-- within p_max_tokens. If the policy names a rerank model, that model orders the hits before the best five are chosen.
--
-- The relevance is 1 - (1 - cosine similarity) * (1 - keyword score): a high value of either is enough, and high values
-- of both count more. With most models few cosines reach the default threshold of 0.7. With all-MiniLM-L6-v2 and a
-- summary of each session of four conversations of LoCoMo, cosines alone found a conversation for 10 % of the
-- questions, and 4 % of the sessions with evidence; this relevance finds a conversation for 83 % of the questions, and
-- 65 % of the sessions. For questions about somebody else's conversations this relevance finds a conversation for 2 %.
create or replace function memory._cross_session_context(p_asking memory._asking, p_max_tokens int)
returns memory._offer[]
language plpgsql stable parallel unsafe
as $$
declare
  heading constant text := 'Earlier conversations:';
  threshold constant double precision := memory._share(p_asking.policy #>> '{knowledge_base,relevance_threshold}');
  trigger_phrase text;
  topic text;
  reranks constant boolean := memory._reranks(p_asking.policy);
  hits memory.search_result[];
  hit memory.search_result;
  line text;
  content text;
  tokens int;
  details jsonb;
  left_out memory._offer[] := array[]::memory._offer[];
begin
  select t.phrase into trigger_phrase
  from jsonb_array_elements_text(p_asking.policy #> '{knowledge_base,search_triggers}') as t (phrase)
  where t.phrase ~ e'\\S' and strpos(lower(p_asking.query), lower(t.phrase)) > 0
  limit 1;
  if not found then
    return array[memory._left_out('cross_session', 'the query does not ask for them', 0)];
  end if;
  if p_asking.target is null then
    raise notice 'degraded: earlier conversations are searched by keyword only, relevance_threshold does not apply'
      using errcode = '01AM4', hint = memory._help_without_model() || '.';
  end if;

  -- The search leaves out the words of the phrase, because no summary has them.
  topic := coalesce(nullif(btrim(replace(lower(p_asking.query), lower(trigger_phrase), ' ')), ''), p_asking.query);

  hits := array(
    select row(r.source, x.id, r.thread_id, x.content, r.relevance, x.metadata, coalesce(x.valid_from, r.created_at),
               '{}', null, null)::memory.search_result
    from (
      select c.*
      from (
        select h.source, h.id, h.number, h.thread_id, v.relevance, h.created_at,
          row_number() over (partition by h.thread_id order by v.relevance desc, h.created_at desc) as place_in_thread
        -- Two searches, one for archived conversations and one for summaries, so that many documents do not crowd out
        -- the summaries.
        from (values
          ('summary', memory._filters(p_exclude_thread_id => p_asking.thread_id)),
          ('document', memory._filters(p_exclude_thread_id => p_asking.thread_id,
                                       p_namespaces => array[memory._archive_namespace(p_asking.user_id)]))
        ) as w (source, filters)
        cross join lateral memory._ranked(
          p_user_id => p_asking.user_id, p_agent_id => p_asking.agent_id, p_query => topic, p_model => p_asking.model,
          p_target => p_asking.target, p_mode => case when p_asking.target is null then 'keyword' else 'hybrid' end,
          p_settings => p_asking.policy -> 'search', p_sources => array[w.source], p_row_limit => 20,
          p_filters => w.filters, p_explain => true) as h
        cross join lateral (
          select memory._real(1 - (1 - greatest(memory._share(h.explanation #>> '{vector,score}'), 0))
                                * (1 - coalesce(memory._share(h.explanation #>> '{keyword,score}'), 0))) as relevance
        ) as v
        where h.thread_id is not null -- The summary of the user is no conversation.
          and (p_asking.target is null or v.relevance >= memory._real(threshold))
      ) as c
      where c.place_in_thread = 1
      order by c.relevance desc, c.created_at desc
      limit case when reranks then 20 else 5 end
    ) as r
    cross join lateral memory._search_row(
      p_asking.user_id, r.source, r.id, r.thread_id, r.number, p_query => topic) as x
    where x.content is not null
    order by r.relevance desc, r.created_at desc);
  if reranks then -- by the whole question, which says more than its topic
    hits := array(select r from memory._rerank(
      p_asking.user_id, p_asking.agent_id, memory._rerank_model(p_asking.policy), p_asking.query, true, hits) as r
      limit 5);
  end if;

  tokens := memory._tokens_at_most(memory._fenced(heading));
  details := jsonb_build_object('trigger', trigger_phrase, 'results', '[]'::jsonb);
  foreach hit in array hits loop
    line := format(e'\n[%s, conversation %s] ',
                   to_char(memory._day_of(hit.created_at, memory._zone_of(p_asking.user_id, hit.thread_id)),
                           'YYYY-MM-DD'),
                   coalesce(memory._placeholder_text(hit.thread_id), '-'))
      -- Further lines are indented, so that none of them looks like another conversation.
      || replace(memory._paragraph(hit.content), e'\n', e'\n  ');
    if tokens + memory._tokens_at_most(line) <= p_max_tokens then
      tokens := tokens + memory._tokens_at_most(line);
      content := coalesce(content, heading) || line;
      details := jsonb_set(details, '{results}', details -> 'results' || (hit.details || jsonb_build_object(
        'source', hit.source, 'id', hit.id, 'thread_id', hit.thread_id, 'score', hit.score)));
    else
      raise notice 'degraded: an earlier conversation does not fit into max_tokens'
        using errcode = '01AM6', hint = 'Raise max_tokens, or the policy''s context.cross_session_share.';
      left_out := left_out || memory._left_out(
        'cross_session', 'does not fit', memory._tokens_at_most(line), coalesce(hit.thread_id, hit.id));
    end if;
  end loop;
  if hits = '{}' then
    return array[memory._left_out('cross_session', 'no conversation is relevant enough', 0)];
  elsif content is null then
    return left_out;
  end if;
  return row(
    4, 0, 'cross_session', null, 'system', memory._fenced(content), tokens, details, null, null, null)::memory._offer
    || left_out;
end;
$$;
