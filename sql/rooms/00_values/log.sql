-- Writes a line at level INFO. PostgreSQL sends INFO to the client that runs the statement, such as a worker, and
-- writes the line into the server's log only if log_min_messages is info or lower. Otherwise the function writes the
-- line at level LOG, the level at which the server reports its own work.
create or replace function memory._log_info(p_line text)
returns void
language plpgsql stable parallel safe
as $$
begin
  raise info '%', p_line;
  if current_setting('log_min_messages') in ('notice', 'warning', 'error', 'log') then
    raise log '%', p_line;
  end if;
end;
$$;

-- An id for a line of a log, without characters that would begin another line.
create or replace function memory._in_a_line(p_id text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return regexp_replace(p_id, '[[:cntrl:]]', '?', 'g');
end;
$$;
