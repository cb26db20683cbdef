create or replace function memory._check_search(
  user_id text, mode text, sources text[], agent_id text, thread_id text, exclude_thread_id text, memory_types text[],
  tags_all text[], tags_any text[], exclude_tags text[], filter jsonb, min_score double precision,
    min_confidence double precision, top_k int,
  doc_types text[], namespaces text[]
)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  known constant text[] := array['memory', 'summary', 'document', 'message', 'artifact'];
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  perform memory._check_id('thread_id', coalesce(thread_id, 'any'));
  perform memory._check_id('exclude_thread_id', coalesce(exclude_thread_id, 'none'));
  perform memory._check_list('memory_types', memory_types);
  perform memory._check_memory_types('memory_types', memory_types);
  perform memory._check_list('tags_all', tags_all), memory._check_list('tags_any', tags_any),
    memory._check_list('exclude_tags', exclude_tags),
    memory._check_list('doc_types', doc_types), memory._check_list('namespaces', namespaces);
  if min_score not between -1 and 1 then -- as cosines are
    perform memory._refuse('min_score', format('%s is not between -1 and 1', min_score), 'Leave it out for no limit.');
  end if;
  perform memory._check_share('min_confidence', min_confidence);
  if (mode in ('hybrid', 'vector', 'keyword')) is not true then
    perform memory._refuse('mode', coalesce('unknown mode "' || left(mode, 50) || '"', 'must not be null'), 'Use hybrid, vector or keyword.');
  end if;
  if (sources <@ known) is not true or cardinality(sources) = 0 then
    perform memory._refuse('sources',
      case when sources is null then 'must not be null' when cardinality(sources) = 0 then 'must not be empty'
           else (select 'unknown source ' || coalesce('"' || left(s, 50) || '"', 'null') from unnest(sources) as s where (s = any (known)) is not true limit 1) end,
      'Known sources: ' || array_to_string(known, ', '));
  end if;
  perform memory._check_list('sources', sources);
  if (top_k between 1 and 1000) is not true then
    perform memory._refuse('top_k', format('%s is not between 1 and 1000', coalesce(top_k::text, 'null')), '10 is the default.');
  end if;
  perform memory._check_filter(filter);
end;
$$;
