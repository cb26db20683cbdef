-- The parts of artifacts that no job has parsed yet and that a search reads: the first 64 KiB and the end of each.
create or replace function memory._artifacts_unread(p_user_id text, p_sources text[])
returns table (
  source text, id text, thread_id text, number bigint, agent_id text, created_at timestamptz, metadata jsonb,
  about text, content text
)
language sql stable parallel safe
begin atomic
  select 'artifact', a.key || '/' || p.first_byte, a.thread_id, p.first_byte::bigint, a.agent_id,
    a.created_at, a.metadata, memory._part_text(a.key, a.description, p.first_byte, ''), p.content
  from memory._current_artifacts(p_user_id) as a
  join memory.artifact_parts as p on p.user_id = a.user_id and p.content_id = a.content_id
  where 'artifact' = any (p_sources) and p.user_id = p_user_id and not p.is_parsed
    and (p.first_byte < 65536 or memory._is_last_part(p.first_byte, a.token_count));
end;
