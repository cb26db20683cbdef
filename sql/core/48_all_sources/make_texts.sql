-- Makes the texts of a user whose rows were imported. Messages and artifacts are left to jobs.
create or replace function memory._make_texts(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.marks as k where k.user_id = p_user_id and k.kind = 'words';
  perform memory._store_texts(p_user_id, i.source, i.ids)
  from (
    select 'memory' as source, array_agg(m.memory_id::text) as ids from memory.memories as m where m.user_id = p_user_id
    union all
    select 'summary', array_agg(s.summary_id::text) from memory.summaries as s where s.user_id = p_user_id
    union all
    select 'document', array_agg(c.document_id || '/' || c.number)
    from memory.document_chunks as c where c.user_id = p_user_id) as i
  where i.ids is not null;
end;
$$;
