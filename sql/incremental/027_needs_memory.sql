-- Whether a request needs memory, see memory.needs_memory().
create type memory.memory_need as (decision text, reason text, details jsonb);
comment on type memory.memory_need is 'What memory.needs_memory() returns: skip or search, the reason in words, and the score of each sign.';
