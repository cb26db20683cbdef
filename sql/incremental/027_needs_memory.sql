-- Whether a request needs memory, see memory.needs_memory().
create type memory.memory_need as (decision text, reason text, details jsonb);
