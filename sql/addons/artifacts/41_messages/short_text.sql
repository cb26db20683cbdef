-- The text around the placeholder of a long message.

-- The words before and after the placeholder of a tool's output: Command 'npm install' ran for 12.3 s. Output: [...].
-- Exit status 0. If a command contains a text that looks like a placeholder, the function makes that text harmless, so
-- that the first placeholder is the output's own.
create or replace function memory._around_output(p_about jsonb)
returns text[]
language plpgsql stable parallel safe
as $$
declare
  command text := memory._harmless(memory._one_line(p_about ->> 'command', 200));
  seconds constant numeric := case when jsonb_typeof(p_about -> 'duration_ms') = 'number'
    then (p_about ->> 'duration_ms')::numeric / 1000 end;
  status constant text := memory._harmless(memory._one_line(p_about ->> 'exit_status', 20));
begin
  if command is not null then
    command := format(case when strpos(command, '''') = 0 then 'Command ''%s'' ran%s. Output: '
                        else 'Command "%s" ran%s. Output: ' end,
      command, case when seconds between 0 and 1e9 then format(' for %s s', round(seconds, 1)) end);
  end if;
  return array[
    coalesce(command, 'Output of ' || memory._harmless(memory._one_line(p_about ->> 'tool', 100)) || ': ', 'Output: '),
    '.' || coalesce(' Exit status ' || status || '.', '')];
end;
$$;

-- A text on one line, at most p_length characters; null when nothing is left.
create or replace function memory._one_line(p_said text, p_length int)
returns text
language plpgsql immutable parallel safe
as $$
begin
  p_said := nullif(btrim(regexp_replace(left(p_said, 4 * p_length), e'[\\s\\u0001-\\u001f\\u007f]+', ' ', 'g')), '');
  return case when length(p_said) > p_length then rtrim(left(p_said, p_length - 3)) || '...' else p_said end;
end;
$$;

-- The command and the tool that wrote the output in a message, as members command and tool. They come from the
-- message's metadata, or from the call with its tool_call_id. The function looks for the call in the array in which the
-- message came (up to 1,000 messages, because each output searches it) and among the last twenty messages of the
-- thread. A mark takes the place of each credential.
create or replace function memory._call_of(p_user_id text, p_thread_id text, p_metadata jsonb, p_messages jsonb)
returns jsonb
language plpgsql stable parallel unsafe
set enable_sort = off -- an index gives the newest messages, also without statistics
as $$
declare
  of_id constant jsonb := jsonb_build_object('id', p_metadata -> 'tool_call_id');
  call jsonb;
  arguments jsonb;
begin
  if jsonb_typeof(p_metadata -> 'command') = 'string' then
    return memory._json_masked(jsonb_build_object('command', p_metadata -> 'command'), '{credential}');
  end if;
  if p_metadata ? 'tool_call_id' then
    if jsonb_array_length(p_messages) <= 1000 then
      call := jsonb_path_query_first(p_messages, '$[*].tool_calls[*] ? (@.id == $id).function', of_id);
    end if;
    if call is null then
      select c.function into call
      from (
        select jsonb_path_query_first(m.metadata, '$.tool_calls[*] ? (@.id == $id).function', of_id) as function
        from (select m.metadata from memory.messages as m
              where m.user_id = p_user_id and m.thread_id = p_thread_id order by m.seq desc limit 20) as m
      ) as c
      where c.function is not null limit 1;
    end if;
    begin
      arguments := left(call ->> 'arguments', 65536)::jsonb;
    exception when data_exception or program_limit_exceeded then
      arguments := null;
    end;
  end if;
  return memory._json_masked(jsonb_strip_nulls(jsonb_build_object(
    'command', (
      select c.command
      from unnest(array[arguments -> 'command', arguments -> 'cmd', p_metadata -> 'command']) with ordinality
        as v (value, place)
      cross join lateral (
        select case jsonb_typeof(v.value)
          when 'string' then nullif(left(v.value #>> '{}', 10000), '')
          when 'array' then (select left(string_agg(w.word, ' ' order by w.place), 10000)
                             from jsonb_array_elements_text(v.value) with ordinality as w (word, place))
        end as command) as c
      where c.command is not null
      order by v.place limit 1),
    'tool', left(coalesce(p_metadata ->> 'name', call ->> 'name'), 255))), '{credential}');
end;
$$;

-- The part of a person's or a model's long text that stays in the thread. It has the beginning, which asks the question
-- or announces the text, up to an empty line or 600 characters. It also has the last paragraph if that is a short
-- sentence, such as "What is wrong here?".
create or replace function memory._own_words(p_content text)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  head text := coalesce(substring(left(p_content, 601) from e'^\\s*?\\S.*?(?=\\n[ \\t\\r]*\\n)'), left(p_content, 600));
  tail text := substring(right(p_content, 402) from e'\\n[ \\t\\r]*\\n([^\\n]*\\S\\s*)$');
begin
  if length(head) = 600 then -- cuts after a whole line, or else after a whole word
    head := coalesce(substring(head from e'^(.{100,})\\n'), substring(head from e'^(.{100,})\\s'), head);
  end if;
  if tail !~ e'^[[:alpha:]"\'\\u00bf(][^{}<>=;|]*[.?!\\u3002\\uff1f\\u2026)]?\\s*$' or length(tail) > 300 then
    tail := null;
  end if;
  return array[head, coalesce(tail, '')];
end;
$$;
