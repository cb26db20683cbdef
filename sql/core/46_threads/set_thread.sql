create or replace function memory.set_thread(
  user_id text, thread_id text, title text default null, metadata jsonb default null,
  expected_metadata jsonb default null
)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  masks text[];
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  masks := memory._masks(memory._policy(user_id, null), true);
  if masks <> '{}' then
    title := memory._masked(title, masks);
    metadata := memory._masked_metadata(metadata, masks);
  end if;
  perform memory._check_title(title, 'Put more into metadata.');
  perform memory._check_metadata(metadata);
  insert into memory.threads as t (user_id, thread_id, title, metadata)
  select set_thread.user_id, set_thread.thread_id, nullif(btrim(set_thread.title), ''),
    coalesce(set_thread.metadata, '{}')
  where coalesce(set_thread.expected_metadata, '{}') = '{}' or exists (
    select from memory.threads as e where e.user_id = set_thread.user_id and e.thread_id = set_thread.thread_id)
  on conflict on constraint threads_pkey do update
  set title = case when set_thread.title is null then t.title else excluded.title end,
      -- The caller's metadata cannot remove the origin of a copied thread, because memory.forget_memory() and
      -- memory.quarantine_source() find the copy by it.
      metadata = coalesce(set_thread.metadata || jsonb_strip_nulls(jsonb_build_object(
        'copied_from', t.metadata -> 'copied_from', 'copied_upto_seq', t.metadata -> 'copied_upto_seq')), t.metadata)
  where coalesce(t.metadata, '{}') = coalesce(set_thread.expected_metadata, t.metadata, '{}');
  if not found then
    perform memory._refuse('expected_metadata', 'the metadata of the thread is not this',
      'Somebody has changed it: read it again and decide on the new one.', '40001');
  end if;
  if memory._is_space(user_id) then
    perform memory._note_writer(user_id, s.source, thread_id, true)
    from (values ('title', title is not null), ('metadata', metadata is not null)) as s (source, is_set)
    where s.is_set;
  end if;
end;
$$;
comment on function memory.set_thread(text, text, text, jsonb, jsonb) is
'Sets the title (2,000 bytes at most) and the metadata of a thread, which need not exist yet. Null leaves what is '
'there, an empty title or object clears it. With expected_metadata the change is refused (40001) if the thread has '
'other metadata ({} is none). Marks replace what the policy has masked (secrets.mask_in_threads, masking.classes).';
