-- The rules of imported rows, which triggers and functions check for rows that are stored one by one.

-- An expression over a row t and its JSON r.value that names the member which breaks a rule, or is null: first the
-- rules of the columns' types, then the condition under which such a row is exported, then the rules of this kind of
-- row.
create or replace function memory._import_rule(p_table regclass)
returns text
language plpgsql stable parallel unsafe
as $$
declare
  plain_name constant text := (select c.relname from pg_class as c where c.oid = p_table);
begin
  return format('coalesce(%s, %s, %s)', memory._range_rule(p_table), (
    select format('case when (%s) is not true then %L end', k.condition, substring(k.condition from 't[.](\w+)'))
    from memory._export_kinds() as k where k.kind = plain_name), case plain_name
    when 'policies' then 'memory._policy_problem(t)'
    when 'artifacts' then 'memory._artifact_problem(t)'
    when 'documents' then 'memory._document_problem(t)'
    when 'messages' then 'memory._message_problem(t.user_id, t.thread_id, t.agent_id, t.role, t.content, t.metadata, '
      't.created_at, t.idempotency_key)'
    when 'summaries' then $rule$case
      when memory._list_problem(t.agent_ids) is not null then 'agent_ids'
      when not memory._is_metadata(t.metadata) then 'metadata' end$rule$
    when 'memories' then 'coalesce(memory._memory_problem(t, true), '
      'case when cardinality(t.source_seqs) > 100000 then ''source_seqs'' end)'
    when 'threads' then $rule$case
      when not memory._is_metadata(t.metadata) then 'metadata'
      when octet_length(t.title) > 2000 then 'title' end$rule$
    when 'memory_history' then $rule$case
      when (t.content ~ e'\\S') is not true or octet_length(t.content) > memory._max_memory_bytes() then 'content'
      when not memory._is_metadata(t.metadata) then 'metadata'
      when memory._list_problem(t.tags) is not null then 'tags' end$rule$
    when 'secrets' then $rule$case
      when not memory._is_id(t.name) then 'name'
      when (octet_length(t.key_id) = 8) is not true then 'key_id'
      when (octet_length(t.sealed) between 64 and 70000) is not true then 'sealed' end$rule$
    when 'checkpoints' then $rule$case
      when not memory._is_metadata(t.metadata) then 'metadata'
      when not memory._is_checkpoint(t.checkpoint) then 'checkpoint' end$rule$
    when 'idempotency_keys' then $rule$case
      when (octet_length(t.idempotency_key) between 1 and 255) is not true then 'idempotency_key' end$rule$
    when 'model_calls' then $rule$case
      when t.tokens_in > 2147483647 then 'tokens_in'
      when t.tokens_out > 2147483647 then 'tokens_out'
      when t.duration_ms > 2147483647 then 'duration_ms' end$rule$
    else 'null::text' end);
end;
$$;

-- The checks that follow from the name and type of a column, so that a new one gets them with no line here: ids, times
-- that every client can read, numbers from which counters go on without an overflow, shares and JSON objects. A check
-- names the member with its value.
create or replace function memory._range_rule(p_table regclass)
returns text
language plpgsql stable parallel safe
as $$
declare
  plain_name constant text := (select c.relname from pg_class as c where c.oid = p_table);
begin
  return coalesce((
    select 'case ' || string_agg(
      format('when (%s) is false then %L || coalesce('' ('' || left(r.value ->> %2$L, 50) || '')'', '''')',
             replace(c.rule, 'this', 't.' || quote_ident(c.name)), c.name), ' ' order by c.name) || ' end'
    from (
      select a.attname::text as name, case
          when (plain_name, a.attname) in (('memories', 'deleted_at'), ('artifacts', 'check_at'))
            then 'memory._is_real_moment(this) or this = ''infinity'''
          when (plain_name, a.attname) in (
              ('policies', 'agent_id'), ('summaries', 'thread_id'), ('documents', 'thread_id')) -- '' is for all of them
            then 'this = '''' or memory._is_id(this)'
          when a.attname in ('thread_id', 'agent_id', 'checkpoint_id') then 'this is null or memory._is_id(this)'
          when a.attname in ('expires_at', 'valid_from', 'valid_to') then 'memory._is_bound(this)'
          when t.typname = 'timestamptz' then 'memory._is_real_moment(this)'
          when t.typname = 'date' then 'this between date ''0001-01-02'' and date ''9999-12-30'''
          when a.attname = 'version' and t.typname <> 'text' then 'this between 1 and 1000000000'
          when a.attname = 'position' then 'this between -1 and 1000000000000000000' -- microseconds, or a seq
          when a.attname in ('prompt_version', 'generation_time_ms', 'place') then null -- nothing counts on these
          when t.typname = 'int4' then 'this between 0 and 1000000000'
          when t.typname = 'int8' then 'this between 0 and 1000000000000000'
          when t.typname = '_int8' then '0 <= all (this) and 1000000000000000 >= all (this)'
          when t.typname = 'float4' then 'this between 0 and 1'
          when t.typname = 'numeric' then 'this between 0 and 1000000'
          when t.typname = 'jsonb' then 'jsonb_typeof(this) = ''object'''
        end as rule
      from pg_attribute as a join pg_type as t on t.oid = a.atttypid
      where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
        and a.attname <> 'metadata') as c -- of which more is said than its type
    where c.rule is not null), 'null::text');
end;
$$;

-- These three name the member that a checking function refuses. Their subtransactions cannot begin in a parallel plan.
create or replace function memory._policy_problem(p_candidate memory.policies)
returns text
language plpgsql stable parallel unsafe
as $$
begin
  if p_candidate.agent_id <> '' then
    perform memory._check_id('agent_id', p_candidate.agent_id);
  end if;
  perform memory._check_settings_object(p_candidate.settings);
  perform memory._check_settings(p_candidate.settings);
  return null;
exception
  when invalid_parameter_value or program_limit_exceeded then
    return format('settings (%s)', sqlerrm);
end;
$$;

create or replace function memory._artifact_problem(p_candidate memory.artifacts)
returns text
language plpgsql stable parallel unsafe
as $$
begin
  perform memory._check_artifact(p_candidate);
  perform memory._check_artifact_content(p_candidate.content);
  return null;
exception
  when invalid_parameter_value or program_limit_exceeded then
    return format('%s (%s)', split_part(sqlerrm, ':', 1), sqlerrm);
end;
$$;

create or replace function memory._document_problem(p_candidate memory.documents)
returns text
language plpgsql stable parallel unsafe
as $$
begin
  perform memory._check_document(p_candidate);
  return null;
exception
  when invalid_parameter_value or program_limit_exceeded then
    return format('%s (%s)', split_part(sqlerrm, ':', 1), sqlerrm);
end;
$$;
