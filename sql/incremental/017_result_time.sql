-- A result of a search says when it held or happened.
alter type memory.search_result add attribute valid_from timestamptz;
comment on column memory.search_result.valid_from is
'When it held or happened, where that is known: of a message when it was said, of a memory from when it holds.';
