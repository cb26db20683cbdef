-- The statement that gives the rows of one user to another. It is one statement for all tables, so that it sees all
-- rows that a transaction has committed, or none. It deletes and inserts, because triggers let deleted rows of a whole
-- user pass by, and inserted ones that are copied. Its parameters are those of memory._forgetting_delete(), which
-- leaves alone what is not locked; $6 is the other user, $7 and $8 are the new names of threads and artifacts, $9 says
-- whether the other user has a summary of its own. It returns the number of rows by table.
create or replace function memory._merging_statement()
returns text
language plpgsql stable parallel safe
as $$
begin
  return (
    select format('with %s select jsonb_strip_nulls(jsonb_build_object(%s))',
      string_agg(format(e'of_%1$s as (%2$s returning t.*),\nto_%1$s as (insert into memory.%1$I as x (%3$s) '
          'select %4$s from of_%1$s as t %5$s %6$s returning 1)',
        n.name, case n.name
          when 'artifact_parts' then -- with their artifacts, which this statement has seen
            'delete from memory.artifact_parts as t where t.user_id = $1 and t.content_id in '
            '(select a.content_id from of_artifacts as a union all select u.upload_id from of_artifact_uploads as u)'
          else memory._forgetting_delete(n.relation, n.has_thread) end, c.names, c.merged,
        -- What stands between a table and the conflict: for memories the equal memory of the other user, which hides
        -- them; for the summary of a user that it is not merged, and neither is how far it has read.
        case n.name
          when 'memories' then
            'left join memory.memories as w '
            'on w.user_id = $6 and w.agent_id = t.agent_id and w.content_hash = t.content_hash '
            'and memory._is_current(w) and num_nonnulls(t.superseded_at, t.deleted_at) = 0'
          when 'summaries' then 'where not ($9 and t.kind = ''user'')'
          when 'marks' then 'where not ($9 and t.kind = ''summarize_user'')'
          else '' end,
        memory._merging_conflict(n.name)), e',\n' order by n.place),
      string_agg(format('%L, (select nullif(count(*), 0) from to_%s)', n.name, n.name), ', ' order by n.place))
    from memory._tables_of_users() with ordinality as n (relation, name, has_thread, place)
    cross join lateral (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum) as names,
        string_agg(memory._merged_column(n.name, a.attname), ', ' order by a.attnum) as merged
      from pg_attribute as a
      where a.attrelid = n.relation and a.attnum > 0 and not a.attisdropped) as c
    where n.name <> 'audit');
end;
$$;

-- The value of a column of a merged row t: nearly always what it was.
create or replace function memory._merged_column(p_table text, p_column text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  plain constant text := format('t.%I', p_column);
  -- "message thread/3" and "thread/3" name a message, "log/0" the first part of the artifact log.
  message constant text := 'coalesce(($7 ->> memory._thread_of(%1$s)) || ''/'' || memory._seq_of(%1$s), %1$s)';
  artifact constant text := 'coalesce(($8 ->> memory._thread_of(%1$s)) || ''/'' || memory._seq_of(%1$s), %1$s)';
begin
  return case
    when p_column = 'user_id' then '$6'
    when p_column = 'thread_id' then 'coalesce($7 ->> t.thread_id, t.thread_id)'
    when (p_table, p_column) in (('jobs', 'scope'), ('marks', 'scope')) then
      'case when t.kind in (''language'', ''parsed_anew'', ''spoken'') then t.scope'
      || ' else coalesce($7 ->> t.scope, t.scope) end'
    when (p_table, p_column) in (('messages', 'artifact_key'), ('artifacts', 'key')) then
      format('coalesce($8 ->> %1$s, %1$s)', plain)
    when (p_table, p_column) in (
        ('messages', 'content'), ('quarantined_messages', 'content'), ('summaries', 'summary'),
        ('memory_history', 'content')) then
      format('memory._with_keys(%s, $8)', plain)
    when (p_table, p_column) in (
        ('messages', 'metadata'), ('memory_history', 'metadata'), ('artifacts', 'metadata')) then
      format('case when $8 <> ''{}'' then memory._with_keys(%1$s::text, $8)::jsonb else %1$s end', plain)
    when (p_table, p_column) = ('threads', 'metadata') then
      'case when $7 ? (t.metadata ->> ''copied_from'') '
      'then jsonb_set(t.metadata, ''{copied_from}'', $7 -> (t.metadata ->> ''copied_from'')) else t.metadata end'
    when (p_table, p_column) in (('embeddings', 'id'), ('texts', 'id')) then
      format('case t.source when ''message'' then %s when ''artifact'' then %s else t.id end',
        format(message, plain), format(artifact, plain))
    when p_column = 'quarantined_with' then
      format('case when starts_with(%1$s, ''message '') then ''message '' || %2$s '
          'when starts_with(%1$s, ''artifact '') '
          'then ''artifact '' || coalesce($8 ->> substr(%1$s, 10), substr(%1$s, 10)) '
          'else %1$s end', plain, format(message, format('substr(%s, 9)', plain)))
    -- The keys are of the user.
    when (p_table, p_column) = ('texts', 'keys') then
      'case when t.keys is not null then '
      'array(select memory._word_key($6, k) from unnest(tsvector_to_array(t.words)) as k) end'
    when (p_table, p_column) = ('documents', 'namespace') then
      'case when t.namespace = memory._archive_namespace($1) then memory._archive_namespace($6) else t.namespace end'
    when (p_table, p_column) = ('documents', 'title') then -- a file whose path the other user has, too
      'case when t.namespace = ''/memories'' and exists (select from memory.documents as d where d.user_id = $6 '
      'and d.namespace = t.namespace and d.title = t.title) then t.title || ''-'' || t.document_id else t.title end'
    when (p_table, p_column) = ('jobs', 'job_id') then -- a user who was moved here may have brought the number along
      'case when exists (select from memory.jobs as j where j.user_id = $6 and j.job_id = t.job_id) '
      'then nextval(pg_get_serial_sequence(''memory.jobs'', ''job_id'')) else t.job_id end'
    when (p_table, p_column) = ('memories', 'superseded_by') then 'coalesce(t.superseded_by, w.memory_id)'
    when (p_table, p_column) = ('memories', 'superseded_at') then
      'case when w.memory_id is not null then statement_timestamp() else t.superseded_at end'
    when (p_table, p_column) = ('memories', 'supersede_reason') then
      'case when w.memory_id is not null then ''duplicate'' else t.supersede_reason end'
    else plain end;
end;
$$;

-- What becomes of a row if the other user has one with its key.
create or replace function memory._merging_conflict(p_table text)
returns text
language sql immutable parallel safe
begin atomic
  select case
    when p_table = 'memory_scopes' then
      'on conflict on constraint memory_scopes_pkey do update set '
      'duplicates_skipped = x.duplicates_skipped + excluded.duplicates_skipped, '
      'extracted_on = greatest(x.extracted_on, excluded.extracted_on), '
      'extracted_count = case '
      'when x.extracted_on = excluded.extracted_on then x.extracted_count + excluded.extracted_count '
      'when x.extracted_on > excluded.extracted_on then x.extracted_count else excluded.extracted_count end'
    when p_table = 'policies' then
      'on conflict on constraint policies_pkey do update set '
      'settings = memory._merge_policy(excluded.settings, x.settings)'
    when p_table = 'marks' then -- what one of the two has not looked at yet is looked at
      'on conflict on constraint marks_pkey do update set position = case '
      'when x.kind in (''reconcile_memories'', ''consolidate'') then least(x.position, excluded.position) '
      'else greatest(x.position, excluded.position) end'
    -- An open job of the other user does the same; a key of these tables says all that their rows say.
    when p_table in ('due_deletions', 'embeddings', 'gone_jobs', 'jobs', 'merged_users', 'model_calls',
      'moved_users', 'memory_uses', 'query_embeddings', 'shown_rounds', 'space_grants', 'space_writes', 'spaces',
      'texts') then
      'on conflict do nothing'
    else '' end;
end;
