-- The rules of imported rows: what triggers and functions check of rows that are stored one by one.

-- An expression over a row t and its JSON r.value that names the member which breaks a rule, or is null.
create or replace function memory._import_rule(p_kind text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case p_kind
    when 'policies' then 'memory._policy_problem(t)'
    when 'threads' then $rule$case
      when not memory._is_id(t.thread_id) then 'thread_id'
      when not memory._is_count(t.next_seq) then 'next_seq'
      when not memory._is_count(t.tokens_since_summary) then 'tokens_since_summary'
      when not memory._is_bound(t.first_at) then 'first_at'
      when not memory._is_bound(t.last_at) then 'last_at' end$rule$
    when 'artifacts' then $rule$case
      when not memory._is_count(t.token_count) then 'token_count'
      else memory._artifact_problem(t) end$rule$
    when 'messages' then $rule$coalesce(
      memory._message_problem(t.user_id, t.thread_id, t.agent_id, t.role, t.content, t.metadata, t.created_at,
                              t.idempotency_key),
      case when not memory._is_count(t.seq) then 'seq'
        when not memory._is_count(t.token_count) then 'token_count'
        when not memory._is_bound(t.expires_at) then 'expires_at' end)$rule$
    when 'quarantined_messages' then $rule$case
      when not memory._is_id(t.thread_id) then 'thread_id'
      when not memory._is_count(t.seq) then 'seq'
      when not memory._is_bound(t.quarantined_at) then 'quarantined_at'
      when not memory._is_bound(t.released_at) then 'released_at' end$rule$
    when 'summaries' then $rule$case
      when t.thread_id <> '' and not memory._is_id(t.thread_id) then 'thread_id'
      when (t.status <> 'processing') is not true then 'status'
      when not memory._is_count(t.start_seq) then 'start_seq'
      when not memory._is_count(t.end_seq) then 'end_seq'
      when t.token_count < 0 then 'token_count'
      when not memory._is_bound(t.quarantined_at) then 'quarantined_at'
      when memory._list_problem(t.agent_ids) is not null then 'agent_ids'
      when not memory._is_metadata(t.metadata) then 'metadata' end$rule$
    when 'memory_scopes' then $rule$case
      when not memory._is_id(t.agent_id) then 'agent_id'
      when not memory._is_count(t.duplicates_skipped) then 'duplicates_skipped'
      when not memory._is_count(t.extracted_count) then 'extracted_count' end$rule$
    when 'memories' then $rule$coalesce(
      memory._memory_problem(t, true),
      case when (t.version >= 1) is not true then 'version'
        when cardinality(t.source_seqs) > 100000 then 'source_seqs'
        when not memory._is_bound(t.said_at) then 'said_at' end)$rule$
    when 'memory_history' then $rule$case
      when (t.version >= 1) is not true then 'version'
      when (t.content ~ e'\\S') is not true or octet_length(t.content) > memory._max_memory_bytes() then 'content'
      when not memory._is_metadata(t.metadata) then 'metadata'
      when memory._list_problem(t.tags) is not null then 'tags' end$rule$
    when 'documents' then 'memory._document_problem(t)'
    when 'secrets' then $rule$case
      when not memory._is_id(t.name) then 'name'
      when (octet_length(t.key_id) = 8) is not true then 'key_id'
      when (octet_length(t.sealed) between 64 and 70000) is not true then 'sealed' end$rule$
    when 'idempotency_keys' then $rule$case
      when not memory._is_id(t.thread_id) then 'thread_id'
      when (octet_length(t.idempotency_key) between 1 and 255) is not true then 'idempotency_key'
      when not memory._is_count(t.seq) then 'seq'
      when not memory._is_count(t.token_count) then 'token_count' end$rule$
    when 'marks' then $rule$case
      when t.kind in ('claims', 'language', 'parsed_anew') then 'kind'
      when (t.position between -1 and 1000000000000000000) is not true then 'position' end$rule$
    when 'jobs' then $rule$case
      when (t.status in ('completed', 'dead')) is not true then 'status'
      when not memory._is_count(t.attempts) then 'attempts'
      when not memory._is_count(t.max_attempts) then 'max_attempts'
      when not memory._is_count(t.tokens_allowed) then 'tokens_allowed'
      when not memory._is_count(t.tokens_entered) then 'tokens_entered'
      when not memory._is_count(t.calls_entered) then 'calls_entered' end$rule$
    when 'model_calls' then $rule$case
      when t.tokens_in not between 0 and 2147483647 then 'tokens_in'
      when t.tokens_out not between 0 and 2147483647 then 'tokens_out'
      when t.duration_ms not between 0 and 2147483647 then 'duration_ms'
      when t.price not between 0 and 1000000 then 'price'
      when not memory._is_real_moment(t.called_at) then 'called_at' end$rule$
    else 'null::text' end;
end;
$$;

-- Whether a number can count rows or tokens: 0 to 10^15, so that counters that go on from it never overflow. Inlined by
-- the planner, hence no SET clause.
create or replace function memory._is_count(p_number bigint)
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_number between 0 and 1000000000000000) is true;
end;

-- These three name what a checking function refuses.
create or replace function memory._policy_problem(p_candidate memory.policies)
returns text
language plpgsql stable parallel safe
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
language plpgsql stable parallel safe
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
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_document(p_candidate);
  return null;
exception
  when invalid_parameter_value or program_limit_exceeded then
    return format('%s (%s)', split_part(sqlerrm, ':', 1), sqlerrm);
end;
$$;
