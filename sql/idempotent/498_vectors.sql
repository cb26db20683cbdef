-- The operations of pgvector, bound to the schema it lives in. Functions outside 499 to 599 reach them only through these.
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
  -- Only the direction counts, and a halfvec holds 0.0001 to 65504 well.
  execute format($function$
    create or replace function memory._to_halfvec(value %1$I.vector)
    returns %1$I.halfvec
    language sql immutable parallel safe
    begin atomic
      select (case when %1$I.vector_norm(value) between 0.01 and 60000 then value else %1$I.l2_normalize(value) end)::%1$I.halfvec;
    end$function$, vector_schema);
  execute format($function$
    create or replace function memory._dimensions(value %1$I.halfvec)
    returns int
    language sql immutable parallel safe
    begin atomic
      select %1$I.vector_dims(value);
    end$function$, vector_schema);
  execute format($function$
    create or replace function memory._dimensions(value %1$I.vector)
    returns int
    language sql immutable parallel safe
    begin atomic
      select %1$I.vector_dims(value);
    end$function$, vector_schema);
  -- Null where one of them has no direction. Of vectors of different lengths it is an error.
  execute format($function$
    create or replace function memory._cosine_similarity(a %1$I.halfvec, b %1$I.halfvec)
    returns double precision
    language sql immutable parallel safe
    begin atomic
      select nullif(1 - (a operator(%1$I.<=>) b), 'NaN');
    end$function$, vector_schema);
  execute format($function$
    create or replace function memory._has_direction(value %1$I.halfvec)
    returns boolean
    language sql immutable parallel safe
    begin atomic
      select %1$I.l2_norm(value) > 0;
    end$function$, vector_schema);
  -- What a search without filters compares with: memories that may be found, by their embeddings alone.
  execute format($function$
    create or replace function memory._compared_memories(user_id text, agent_id text, model text, target %1$I.halfvec)
    returns table (id text, created_at timestamptz, similarity double precision)
    language sql stable parallel safe
    begin atomic
      select e.id, e.created_at, memory._cosine_similarity(e.embedding, target)
      from memory.embeddings as e
      where e.user_id = _compared_memories.user_id and e.model = _compared_memories.model and e.source = 'memory'
        and memory._dimensions(e.embedding) = memory._dimensions(target) and e.valid_until > statement_timestamp()
        and (_compared_memories.agent_id is null or e.agent_id = _compared_memories.agent_id);
    end$function$, vector_schema);
end;
$vectors$;

-- For statements that are put together when they run.
create or replace function memory._vector_schema()
returns text
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return n.nspname from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace where e.extname = 'vector';
end;
$$;
