-- Makes descriptions by rule, as a person would after a short look at the text. Of a text of more than 256 KiB the
-- functions read only the first and last 64 KiB, and estimate numbers of lines: counting the lines of 10 MB would take
-- a third of the time of storing them.

-- The description of an artifact that was stored without one, such as "npm install, added 512 packages in 9s, 2
-- warnings". It consists of the command (metadata.command) or the tool (metadata.tool), the exit status if the command
-- failed, and the kind of the text. It has at most 200 characters.
create or replace function memory._describe(p_artifact_type text, p_content text, p_metadata jsonb)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  head constant text := left(p_content, 32768);
  size constant int := octet_length(p_content);
  is_sample constant boolean := size > 262144;
  sample constant text := case when is_sample
    then left(p_content, 65536) || e'\n' || memory._byte_slice(p_content, size - 65536, size) else p_content end;
  tail constant text := right(sample, 16384);
  lines constant int := case when is_sample
    then memory._line_breaks(sample)::bigint * size / octet_length(sample)
    else memory._line_breaks(p_content) + case when tail ~ e'\n\\s*$' then 0 else 1 end end;
  -- The command or the tool that the description begins with; null for an artifact that has neither.
  subject constant text := memory._in_short(memory._placeholder_text(left(coalesce(
    case jsonb_typeof(p_metadata -> 'command') when 'string' then p_metadata ->> 'command' end,
    case jsonb_typeof(p_metadata -> 'tool') when 'string' then p_metadata ->> 'tool' end), 1000)), 100);
  status constant text := p_metadata ->> 'exit_status';
  what text;
begin
  what := coalesce(
    memory._describe_binary(head, size),
    memory._describe_json(p_content, size, lines, is_sample),
    memory._describe_page(head),
    memory._describe_diff(head, sample),
    memory._describe_tests(sample, tail),
    memory._describe_table(head, lines, is_sample),
    memory._describe_log(
      sample, tail, lines, is_sample, subject is not null and p_metadata -> 'command' is not null,
      subject is not null));
  return memory._in_short(memory._placeholder_text(concat_ws(', ',
    coalesce(subject, case when what is null then p_artifact_type end),
    case when status ~ '^[1-9][0-9]{0,5}$' then 'failed with ' || status end,
    coalesce(what, memory._said_count(lines, 'line', is_sample)))), 200);
end;
$$;

-- At most p_length characters of a text, with marks in place of credentials. The text is masked before it is cut,
-- because the part of a credential would not be recognised.
create or replace function memory._in_short(p_said text, p_length int)
returns text
language plpgsql immutable parallel safe
as $$
begin
  p_said := memory._without_credentials(p_said);
  return case when length(p_said) > p_length then rtrim(left(p_said, p_length - 3)) || '...' else p_said end;
end;
$$;

-- A number of things, such as "1 row", "2,512 rows" or, if it is estimated, "about 2,500 rows".
create or replace function memory._said_count(p_count bigint, p_thing text, p_is_estimate boolean default false)
returns text
language plpgsql immutable parallel safe
as $$
begin
  if p_is_estimate and p_count >= 10 then
    p_count := round(p_count, 2 - length(p_count::text));
  end if;
  return case when p_is_estimate then 'about ' else '' end
    || btrim(to_char(p_count, 'FM999,999,999,999')) || ' ' || p_thing || case when p_count = 1 then '' else 's' end;
end;
$$;
