-- From here to 599: functions with arguments of type vector, wherever pgvector lives. They are all PL/pgSQL, which binds
-- names when it runs, under its own search_path; functions that bind names now have no place in between.
do $vector_schema$
begin
  perform set_config('search_path', format('pg_catalog, %I, pg_temp', current_setting('agent_memory.vector_schema')), true);
end;
$vector_schema$;
