-- The operations of pgvector that are used outside 499 to 599, bound here to the schema it lives in.
do $vectors$
declare
  vector_schema constant text := current_setting('agent_memory.vector_schema');
begin
  execute format($function$
    create or replace function memory._halfvec(value jsonb)
    returns %1$I.halfvec
    language sql immutable parallel safe
    begin atomic
      select (value #>> '{}')::%1$I.halfvec;
    end$function$, vector_schema);
  execute format($function$
    create or replace function memory._cosine_similarity(a %1$I.halfvec, b %1$I.halfvec)
    returns double precision
    language sql immutable parallel safe
    begin atomic
      select 1 - (a operator(%1$I.<=>) b);
    end$function$, vector_schema);
end;
$vectors$;
