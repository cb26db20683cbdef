create or replace function memory.delete_documents(
  user_id text, document_ids uuid[] default null, namespace text default null, doc_type text default null,
  filter jsonb default null, dry_run boolean default false
)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  chosen uuid[];
  places tid[];
  pieces tid[];
  deleted bigint;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_filter(filter);
  perform memory._check_deletion('document_ids', document_ids,
    num_nonnulls(namespace, doc_type, nullif(filter, '{}')) > 0, dry_run);
  chosen := memory._documents_to_delete(user_id, document_ids, namespace, doc_type, filter);
  deleted := cardinality(chosen);
  if not dry_run and deleted > 0 then
    -- Each document is looked up by its key.
    places := array(
      select d.place
      from (select i from unnest(chosen) as i order by i) as i (id)
      cross join lateral (
        select n.ctid as place from memory.documents as n
        where n.user_id = delete_documents.user_id and n.document_id = i.id offset 0 for update) as d);
    -- Chooses once more, because another session may have changed one of the documents before it was locked.
    chosen := memory._documents_to_delete(user_id, chosen, namespace, doc_type, filter);
    -- One statement deletes the pieces of all documents, so that the trigger on pieces runs once.
    pieces := array(
      select p.place
      from unnest(chosen) as i (id)
      cross join lateral (
        select c.ctid as place from memory.document_chunks as c
        where c.user_id = delete_documents.user_id and c.document_id = i.id offset 0) as p);
    delete from memory.document_chunks as c where c.ctid = any (pieces);
    delete from memory.documents as d where d.ctid = any (places) and d.document_id = any (chosen);
    get diagnostics deleted = row_count;
  end if;
  return memory._deletion(deleted, chosen::text[], dry_run);
end;
$$;
comment on function memory.delete_documents(text, uuid[], text, text, jsonb, boolean) is
'Deletes the documents with these ids, or those under the filters of memory.list_documents(), or those that meet '
'both, for good as memory.delete_document() does, all or none; those in quarantine go as well. Returns {"count": n, '
'"sample": the ids of the ten newest, "dry_run": false}; with dry_run nothing is deleted. A call without any '
'condition is refused (22023); an empty list of ids deletes nothing.';

-- The documents that meet these conditions, newest first.
create or replace function memory._documents_to_delete(
  p_user_id text, p_document_ids uuid[], p_namespace text, p_doc_type text, p_filter jsonb
)
returns uuid[]
language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan -- ids find documents by key, other filters read all of the user
as $$
begin
  return array(
    select l.document_id
    from (
      select d.document_id, d.created_at
      from memory._listed_documents(p_user_id, p_namespace, p_doc_type, p_filter, true) as d
      where p_document_ids is null
      union all
      select d.document_id, d.created_at
      from (select distinct i from unnest(p_document_ids) as i) as i (id)
      cross join lateral ( -- each by its key
        select n.document_id, n.created_at
        from memory._listed_documents(p_user_id, p_namespace, p_doc_type, p_filter, true) as n
        where n.document_id = i.id offset 0) as d) as l
    order by l.created_at desc, l.document_id desc);
end;
$$;
