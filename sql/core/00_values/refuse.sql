-- Raises the error for an argument. All such errors have the wording "<argument>: <problem>" and one SQLSTATE per kind
-- of problem.
create or replace function memory._refuse(p_argument text, p_problem text, p_hint text, p_code text default '22023')
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  -- The problem may quote an argument, which may have 100 MB. The cut lets the error message fit into a log.
  raise exception '%: %', p_argument, left(p_problem, 2000) using errcode = p_code, hint = p_hint;
end;
$$;

-- Refuses an argument because of its size.
create or replace function memory._refuse_size(p_argument text, p_bytes int, p_max_bytes int, p_hint text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._refuse(p_argument, format('has %s bytes, at most %s are allowed', p_bytes, p_max_bytes), p_hint,
    '54000');
end;
$$;

-- If an answer is poorer than it could be, a NOTICE that begins with "degraded: " says so. Programs tell the cause by
-- the SQLSTATE: 01AM1 no embedding model, 01AM2 the query was not embedded, 01AM3 texts are not embedded yet, 01AM4
-- earlier conversations are not compared by meaning, 01AM5 not reranked, 01AM6 a text does not fit into the budget,
-- 01AM7 messages are not parsed yet, 01AM8 the agent lacks a resource, 01AM9 expired before it was stored.
