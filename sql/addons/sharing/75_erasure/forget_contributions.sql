-- Removes the texts that a user wrote in spaces, for memory.forget_user(spaces => 'forget'), and returns the number of
-- rows by table. These are the texts that memory.space_writes names, their versions, and everything that was made of
-- them. Texts of other members stay, even with the same words. The function locks each space as memory.forget_memory()
-- locks a user.
create or replace function memory._forget_contributions(p_user_id text)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  space text;
  written jsonb; -- ids by source
  memories uuid[];
  seqs record; -- the threads and numbers of messages
  removed bigint;
  gone jsonb := jsonb '{}';
begin
  for space in select distinct w.user_id from memory.space_writes as w where w.member = p_user_id order by 1 loop
    perform memory._lock_user(space);
    perform memory._lock_to_forget(space);
    -- This statement takes the notes of texts that are committed by now. Texts that the user commits in the space later
    -- count as those of a new user, and stay.
    with gone_notes as (
      delete from memory.space_writes as w where w.member = p_user_id and w.user_id = space returning w.source, w.id
    )
    select jsonb_object_agg(s.source, s.ids), sum(jsonb_array_length(s.ids)) into written, removed
    from (select n.source, jsonb_agg(n.id) as ids from gone_notes as n group by n.source) as s;
    gone := memory._counting(gone, 'space_writes', removed);
    select coalesce(array_agg(memory._thread_of(i)), '{}') as threads,
      coalesce(array_agg(memory._seq_of(i)::bigint), '{}') as numbers
    into seqs
    from jsonb_array_elements_text(written -> 'message') as i;
    -- Includes memories that jobs have drawn from these messages alone, even if some of these messages are gone.
    memories := array(
      select i::uuid from jsonb_array_elements_text(written -> 'memory') as i
      union
      select m.memory_id
      from memory.memories as m
      where m.user_id = space and cardinality(m.source_seqs) > 0
        and not exists (
          select from unnest(m.source_seqs) as q
          where (m.thread_id, q) not in (select * from unnest(seqs.threads, seqs.numbers))));
    if cardinality(seqs.numbers) > 0 then
      perform memory._delete_messages(space, seqs.threads, seqs.numbers);
      gone := memory._counting(gone, 'messages', memory._remove_messages(space, seqs.threads, seqs.numbers));
    end if;
    if memories <> '{}' then
      gone := memory._added(gone, memory._forget_memories(space, memories, '{}'));
    end if;
    delete from memory.documents as d
    where d.user_id = space and written -> 'document' ? d.document_id::text;
    get diagnostics removed = row_count;
    gone := memory._counting(gone, 'documents', removed);
    with uploads as (
      delete from memory.artifact_uploads as u where u.user_id = space and written -> 'upload' ? u.upload_id::text
      returning u.upload_id
    )
    delete from memory.artifact_parts as p
    where p.user_id = space and p.content_id in (select u.upload_id from uploads as u);
    get diagnostics removed = row_count;
    gone := memory._counting(gone, 'artifact_parts', removed);
    delete from memory.artifacts as a where a.user_id = space and written -> 'artifact' ? a.key;
    get diagnostics removed = row_count;
    gone := memory._counting(gone, 'artifacts', removed);
    update memory.threads as t
    set title = case when written -> 'title' ? t.thread_id then null else t.title end,
        metadata = case when written -> 'metadata' ? t.thread_id -- a copy keeps its origin, as in set_thread()
          then jsonb_strip_nulls(jsonb_build_object('copied_from', t.metadata -> 'copied_from',
            'copied_upto_seq', t.metadata -> 'copied_upto_seq'))
          else t.metadata end
    where t.user_id = space and (written -> 'title' ? t.thread_id or written -> 'metadata' ? t.thread_id);
    get diagnostics removed = row_count;
    gone := memory._counting(gone, 'threads', removed);
    removed := (
      select sum(memory._delete_checkpoints_of_thread(space, t.thread_id))
      from (select c as thread_id from jsonb_array_elements_text(written -> 'checkpoint') as c order by 1) as t);
    gone := memory._counting(gone, 'checkpoints', removed);
    delete from memory.secrets as s where s.user_id = space and written -> 'secret' ? s.name;
    get diagnostics removed = row_count;
    gone := memory._counting(gone, 'secrets', removed);
    delete from memory.secret_reads as r where r.user_id = space and written -> 'secret' ? r.name;
    get diagnostics removed = row_count;
    gone := memory._counting(gone, 'secret_reads', removed);
  end loop;
  return gone;
end;
$$;
