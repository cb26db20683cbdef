-- needs pgvector on the search_path

-- Earlier conversations, when the user asks for them: the question holds one of the policy's trigger phrases, and what is
-- found in archived conversations and in the summaries of other threads is relevant enough.
create or replace function memory._cross_session_context(
  user_id text, thread_id text, agent_id text, query text, model text, target halfvec, policy jsonb, max_tokens int,
  out content text, out tokens int, out details jsonb
)
language plpgsql stable parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  threshold constant double precision := memory._share(policy #>> '{knowledge_base,relevance_threshold}');
  trigger_phrase text;
  topic text := query;
  hit record;
  line text;
begin
  select t.phrase into trigger_phrase
  from jsonb_array_elements_text(policy #> '{knowledge_base,search_triggers}') as t (phrase)
  where t.phrase ~ e'\\S' and strpos(lower(query), lower(t.phrase)) > 0 limit 1;
  if not found then
    return;
  end if;
  if target is null then
    raise notice 'degraded: earlier conversations are searched by keyword only, relevance_threshold does not apply'
      using hint = 'Register and activate an embedding model.';
    -- The phrase itself is in no summary.
    topic := coalesce(nullif(btrim(replace(lower(query), lower(trigger_phrase), ' ')), ''), query);
  end if;
  tokens := memory._tokens_at_most(memory._fenced('Earlier conversations:'));
  details := jsonb_build_object('trigger', trigger_phrase, 'results', '[]'::jsonb);
  for hit in
    select r.* from (
      select h.source, h.id, h.number, h.thread_id, h.score, h.created_at,
        row_number() over (partition by h.thread_id order by h.score desc, h.created_at desc) as place_in_thread
      -- Each on its own: documents of the application, however many, do not crowd out what was said.
      from (values ('summary', null::text[]), ('document', array[memory._archive_namespace(_cross_session_context.user_id)])) as w (source, namespaces)
      cross join lateral memory._ranked(
        user_id => _cross_session_context.user_id, query => topic, model => _cross_session_context.model, target => _cross_session_context.target,
        mode => case when _cross_session_context.target is null then 'keyword' else 'vector' end, settings => policy -> 'search',
        sources => array[w.source], agent_id => _cross_session_context.agent_id, exclude_thread_id => _cross_session_context.thread_id,
        namespaces => w.namespaces, min_score => case when _cross_session_context.target is not null then threshold end, row_limit => 20) as h
      where h.thread_id is not null -- the summary of the user is no conversation
    ) as r
    where r.place_in_thread = 1
    order by r.score desc, r.created_at desc
    limit 5
  loop
    line := format(e'\n[%s, conversation %s] ', to_char(hit.created_at at time zone 'UTC', 'YYYY-MM-DD'),
                   coalesce(memory._placeholder_text(hit.thread_id), '-'))
      -- Further lines are indented, so that none of them can pose as another conversation.
      || replace(memory._paragraph((memory._search_row(user_id, hit.source, hit.id, hit.thread_id,
        hit.number)).content), e'\n', e'\n  ');
    if tokens + memory._tokens_at_most(line) <= max_tokens then
      tokens := tokens + memory._tokens_at_most(line);
      content := coalesce(content, 'Earlier conversations:') || line;
      details := jsonb_set(details, '{results}', details -> 'results' || jsonb_build_object('source', hit.source, 'id', split_part(hit.id, '/', 1), 'thread_id', hit.thread_id, 'score', hit.score));
    else
      raise notice 'degraded: an earlier conversation does not fit into max_tokens'
        using hint = 'Raise max_tokens, or the policy''s context.cross_session_share.';
    end if;
  end loop;
  content := memory._fenced(content);
end;
$$;
