-- Removes notes of who wrote texts of spaces that are gone. Notes of messages stay while memories name these messages.
-- The function looks up each note, because no index knows which texts are gone; there are as many notes as texts that
-- tenants wrote in spaces.
create or replace function memory._sharing_sweep(p_batch_size int)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.space_writes as w where w.ctid = any (array(
    select d.ctid from memory.space_writes as d
    where not case d.source
      when 'memory' then exists (
        select from memory.memories as m where m.user_id = d.user_id and m.memory_id = d.id::uuid)
      when 'document' then exists (
        select from memory.documents as o where o.user_id = d.user_id and o.document_id = d.id::uuid)
      when 'artifact' then exists (select from memory.artifacts as a where a.user_id = d.user_id and a.key = d.id)
      when 'title' then exists (select from memory.threads as t where t.user_id = d.user_id and t.thread_id = d.id)
      when 'metadata' then exists (select from memory.threads as t where t.user_id = d.user_id and t.thread_id = d.id)
      when 'checkpoint' then exists (
        select from memory.checkpoints as c where c.user_id = d.user_id and c.thread_id = d.id
        union all
        select from memory.checkpoint_writes as w where w.user_id = d.user_id and w.thread_id = d.id)
      when 'upload' then exists (
        select from memory.artifact_uploads as u where u.user_id = d.user_id and u.upload_id = d.id::uuid)
      when 'secret' then exists (select from memory.secrets as s where s.user_id = d.user_id and s.name = d.id)
      else exists (
        select from memory.messages as m
        where m.user_id = d.user_id and m.thread_id = memory._thread_of(d.id) and m.seq = memory._seq_of(d.id))
        or exists (
          select from memory.memories as m
          where m.user_id = d.user_id and m.thread_id = memory._thread_of(d.id)
            and memory._seq_of(d.id) = any (m.source_seqs)) end
    limit p_batch_size for update skip locked));
  return jsonb '{}';
end;
$$;
