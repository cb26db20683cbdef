-- Describes outputs of programs: reports of tests, stack traces, logs.

-- The last line of a test runner, such as "12 passed, 1 failed in 0.5s", with the first test that failed.
create or replace function memory._describe_tests(p_sample text, p_tail text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  said text;
begin
  said := coalesce(
    -- pytest
    substring(p_tail from e'\\n=+ ([0-9]+ [a-z][^\\n]* in [0-9.]+s[^\\n=]*?) ?=+\\s*$'),
    substring(p_tail from
      e'\\n((?:[0-9]+ (?:passed|failed|skipped|errors?|xfailed|warnings?)(?:, )?)+ in [0-9.]+s)[^\\n]*\\s*$'),
    -- unittest
    nullif(concat_ws(': ', substring(p_tail from e'\\n(Ran [0-9]+ tests? in [0-9.]+s)'),
      substring(p_tail from e'\\nRan [0-9]+ tests?[^\\n]*\\n+((?:OK|FAILED)[^\\n]*)')), ''),
    -- Jest, Vitest, Cargo, Mocha, node --test
    substring(p_tail from e'\\n *Tests?: +([0-9]+ [^\\n]*)'),
    substring(p_tail from e'\\n *Tests +([0-9]+ (?:passed|failed)[^\\n]*)'),
    substring(p_tail from e'\\ntest result: ([^\\n;]*; [^\\n]*?failed)'),
    substring(p_tail from e'\\n *([0-9]+ passing)[^\\n]*'),
    'tests: ' || substring(p_tail from e'\\n(?:#|\\u2139) pass ([0-9]+)') || ' passed, '
      || substring(p_tail from e'\\n(?:#|\\u2139) fail ([0-9]+)') || ' failed');
  return said || coalesce(', first: ' || memory._in_short(btrim(coalesce(
    substring(p_sample from e'\\nFAILED ([^\\s]+::[^\\s]+)'), substring(p_sample from e'\\n(?:FAIL|ERROR): ([^\\n]+)'),
    substring(p_sample from e'\\n-{3} FAIL: ([^\\s]+)'))), 80), '');
end;
$$;

-- The error of a stack trace: the line after the last traceback of Python, or before the first frame of Java,
-- JavaScript, Go and Rust. Null for a text without a trace.
create or replace function memory._trace_error(p_sample text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  place int := strpos(p_sample, 'Traceback (most recent call last)');
  said text;
begin
  if place > 0 then
    -- The error follows the frames, which are indented. In a chain of errors the last error ended the program.
    select m.said[1] into said
    from regexp_matches(
      substr(p_sample, place), e'\\n(?:  +[^\\n]*\\n)+([A-Za-z_][\\w.]*(?:: [^\\n]*)?)(?=\\n|$)', 'g')
      with ordinality as m (said, place)
    order by m.place desc limit 1;
    return 'Python traceback: ' || said;
  end if;
  return coalesce(
    'stack trace: ' || substring(p_sample from
      e'(?:^|\\n)(?:Exception in thread "[^"\\n]*" |Uncaught |Caused by: )?'
      || e'([A-Za-z_][\\w.\\u0024]*(?:Error|Exception)\\M[^\\n]*)\\r?\\n\\s+at '),
    'Go panic: ' || substring(p_sample from e'(?:^|\\n)panic: ([^\\n]+)'),
    'Rust panic: ' || substring(p_sample from e'thread ''[^''\\n]*''[^\\n]* panicked at ([^\\n]+(?:\\n[^\\n]+)?)'));
end;
$$;

-- Describes any other text by the error of its stack trace, the line that tells how the program ended, and its numbers
-- of errors, warnings and lines. If no command wrote the text and it has neither trace, ending nor errors, the first
-- telling line is added.
create or replace function memory._describe_log(
  p_sample text, p_tail text, p_lines int, p_is_sample boolean, p_has_command boolean, p_is_output boolean
)
returns text
language plpgsql immutable parallel safe
as $$
declare
  at_least constant text := case when p_is_sample then 'over ' else '' end;
  -- The characters before a level such as ERROR, or before a word such as "error: ", that begins a message. "0 errors"
  -- and "error_handler.py" match no pattern below.
  level constant text := e'(?:^|[\\s\\]\\[|:=("])(?:';
  number constant text := '(?: [A-Z]{1,6}[0-9]+)?: '; -- compilers write "error TS2304: "
  trace constant text := memory._trace_error(p_sample);
  ending constant text := case when trace is null then memory._ending_line(p_tail) end;
  errors int;
  warnings int;
begin
  errors := regexp_count(p_sample, level
    || '(?:ERROR|FATAL|CRITICAL)(?![A-Za-z_])|[A-Za-z]*[Ee]rror' || number
    || e'|error\\[)|(?:^|\\n)(?:npm (?:ERR!|error) code|E: )');
  warnings := regexp_count(p_sample, level
    || 'WARN(?:ING)?(?![A-Za-z_])|[A-Za-z]*[Ww]arning' || number
    || e'|warning\\[)|(?:^|\\n)npm (?:warn|WARN) ');
  return nullif(concat_ws(', ',
    trace, ending,
    case when trace is null and ending is null and not (p_has_command or p_is_output and errors + warnings > 0)
      then ( -- the first line with more than punctuation and table lines
        select memory._in_short(l.said, 100)
        from regexp_split_to_table(left(p_sample, 10000), e'[\\n\\r]') with ordinality as r (line, place)
        cross join lateral memory._placeholder_text(left(r.line, 1000)) as l (said)
        where l.said ~ e'[^ !-/:-@\\[-`{-~\\u2500-\\u259f]'
        order by r.place limit 1) end,
    case when errors > 0 and trace is null then at_least || memory._said_count(errors, 'error')
      || case when ending is null then ': ' || memory._in_short(memory._placeholder_text(substring(
           p_sample from level || e')([^\\n]*(?:ERROR|FATAL|CRITICAL|[Ee]rror' || number || e'|error\\[)[^\\n]*)')), 80)
         else '' end end,
    case when warnings > 0 then at_least || memory._said_count(warnings, 'warning') end,
    case when p_is_output or errors + warnings > 0
      then memory._said_count(p_lines, 'line', p_is_sample) end), '');
end;
$$;

-- The last line that tells how a program ended, such as "added 512 packages in 9s" or "make: *** [all] Error 2".
create or replace function memory._ending_line(p_tail text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return memory._in_short(memory._placeholder_text(l.line), 100)
  from regexp_split_to_table(p_tail, e'[\\n\\r]+') with ordinality as l (line, place)
  where l.line ~ (e'^\\s*(?:(?:added|removed|changed)\\M.*package|up to date\\M)'
    || e'|^Successfully (?:installed|built|tagged|uninstalled)|^\\S*make(?:\\[[0-9]+\\])?: \\*\\*\\*|^ERROR: '
    || e'|^(?:fatal|error|E): ?\\S|BUILD (?:SUCCESS|FAIL)'
    || e'|^(?:Build|Compilation|Deployment|Installation|Migration)\\M.*(?:succeeded|failed|complete|finished)'
    || e'|^\\s*(?:Finished|Done|Completed|Compiled)\\M.*\\m(?:in|successfully)\\M|^Already up to date'
    || e'|[0-9]+ (?:passed|failed)|^(?:[0-9]+ upgraded, )|^Saved |'
    || e'^Found [0-9]+ |^Success: |[0-9]+ problems? [(]|^Total(?::|\\s)|^Killed$'
    || e'|(?:command not found|No such file or directory)$')
    and length(l.line) < 500
  order by l.place desc limit 1;
end;
$$;
