-- The changes of a dry run, read before they are undone: the articles that it made, and the memories that it ended,
-- each with its beginning, the memory that takes its place and the reason.
create or replace function memory._proposal(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'articles', (
      select jsonb_agg(jsonb_build_object('title', d.title, 'content', d.content,
                                          'memory_ids', d.metadata -> 'memory_ids') order by d.document_id)
      from memory.documents as d
      where d.user_id = p_job.user_id and d.source = 'consolidation' and d.created_at >= statement_timestamp()),
    'ends', coalesce((
      select jsonb_agg(jsonb_build_object(
        'memory_id', m.memory_id, 'content', left(m.content, 1000), 'reason', m.supersede_reason,
        'superseded_by', case when m.supersede_reason <> 'consolidated' then m.superseded_by end,
        'valid_to', memory._real_or_null(m.valid_to)) order by g.place)
      from jsonb_array_elements(coalesce(p_job.input -> 'facts', p_job.input -> 'memories'))
        with ordinality as g (given, place)
      join memory.memories as m
        on m.user_id = p_job.user_id and m.memory_id = (g.given ->> 'memory_id')::uuid
          and m.version > (g.given ->> 'version')::int and m.operation in ('end', 'supersede')), '[]')));
end;
$$;
