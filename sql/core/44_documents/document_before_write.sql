-- Applies the rules of documents. A trigger does so, because a plain INSERT must obey them too.
create or replace function memory._document_before_write()
returns trigger
language plpgsql volatile parallel unsafe security definer -- the writer may lack rights on policies
set search_path = pg_catalog, pg_temp
as $$
declare
  masks text[];
begin
  if tg_op = 'INSERT'
    or (new.title, new.content, new.metadata) is distinct from (old.title, old.content, old.metadata) then
    masks := memory._masks_of(new.user_id, null);
    if masks <> '{}' then
      new.title := memory._masked(new.title, masks);
      new.content := memory._masked(new.content, masks);
      new.metadata := memory._json_masked(new.metadata, masks);
    end if;
  end if;
  perform memory._check_document(new);
  new.document_id := coalesce(new.document_id, memory._uuid_v7());
  if memory._is_space(new.user_id) and (tg_op = 'INSERT'
    or (new.title, new.content, new.metadata) is distinct from (old.title, old.content, old.metadata)) then
    perform memory._note_writer(new.user_id, 'document', new.document_id::text, tg_op = 'INSERT');
  end if;
  new.updated_at := statement_timestamp();
  if tg_op = 'UPDATE' and new.content <> old.content then
    new.released_at := null;
  end if;
  new.trust := least(case when tg_op = 'INSERT' then new.trust else old.trust end, memory._lowered(new.metadata));
  return new;
end;
$$;

-- Refuses a document that breaks a rule.
create or replace function memory._check_document(p_candidate memory.documents)
returns void
language plpgsql immutable parallel safe
as $$
begin
  perform memory._check_id('user_id', p_candidate.user_id);
  perform memory._check_id('namespace', p_candidate.namespace);
  perform memory._check_id('doc_type', p_candidate.doc_type);
  -- Only a file that a model writes (memory.use_files()) may be empty.
  if p_candidate.namespace <> '/memories' or memory._is_blank(p_candidate.content) is not true then
    perform memory._check_text(p_candidate.content, 10485760, 'Pass the text of the document.');
  end if;
  perform memory._check_title(p_candidate.title, 'Put more into the content.');
  perform memory._check_metadata(p_candidate.metadata);
  perform memory._check_moment('created_at', p_candidate.created_at);
end;
$$;
