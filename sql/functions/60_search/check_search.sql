create or replace function memory._check_search(
  p_user_id text, p_mode text, p_sources text[], p_agent_id text, p_thread_id text, p_exclude_thread_id text, p_memory_types text[],
  p_tags_all text[], p_tags_any text[], p_exclude_tags text[], p_filter jsonb, p_min_score double precision,
    p_min_confidence double precision, p_top_k int,
  p_doc_types text[], p_namespaces text[]
)
returns void
language plpgsql stable parallel safe
as $$
declare
  known constant text[] := array['memory', 'summary', 'document', 'message', 'artifact'];
begin
  perform memory._check_id('user_id', p_user_id);
  perform memory._check_id('agent_id', coalesce(p_agent_id, 'any'));
  perform memory._check_id('thread_id', coalesce(p_thread_id, 'any'));
  perform memory._check_id('exclude_thread_id', coalesce(p_exclude_thread_id, 'none'));
  perform memory._check_list('memory_types', p_memory_types);
  perform memory._check_memory_types('memory_types', p_memory_types);
  perform memory._check_list('tags_all', p_tags_all), memory._check_list('tags_any', p_tags_any),
    memory._check_list('exclude_tags', p_exclude_tags),
    memory._check_list('doc_types', p_doc_types), memory._check_list('namespaces', p_namespaces);
  if p_min_score not between -1 and 1 then -- as cosines are
    perform memory._refuse('min_score', format('%s is not between -1 and 1', p_min_score), 'Leave it out for no limit.');
  end if;
  perform memory._check_share('min_confidence', p_min_confidence);
  if (p_mode in ('hybrid', 'vector', 'keyword')) is not true then
    perform memory._refuse('mode', coalesce('unknown mode "' || left(p_mode, 50) || '"', 'must not be null'), 'Use hybrid, vector or keyword.');
  end if;
  if (p_sources <@ known) is not true or cardinality(p_sources) = 0 then
    perform memory._refuse('sources',
      case when p_sources is null then 'must not be null' when cardinality(p_sources) = 0 then 'must not be empty'
           else (select 'unknown source ' || coalesce('"' || left(s, 50) || '"', 'null') from unnest(p_sources) as s where (s = any (known)) is not true limit 1) end,
      'Known sources: ' || array_to_string(known, ', '));
  end if;
  perform memory._check_list('sources', p_sources);
  if (p_top_k between 1 and 1000) is not true then
    perform memory._refuse('top_k', format('%s is not between 1 and 1000', coalesce(p_top_k::text, 'null')), '10 is the default.');
  end if;
  perform memory._check_filter(p_filter);
end;
$$;
