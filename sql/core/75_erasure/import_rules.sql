-- The rules of imported rows, which triggers and functions check for rows that are stored one by one.

-- An expression over a row t and its JSON r.value that names the member which breaks a rule, or is null. The build makes
-- it of the words and types of the columns, and of the table's own rule.
create or replace function memory._import_rule(p_kind text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case p_kind
    {{each table with exported: when '<table>' then <problem>}}
  end;
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
