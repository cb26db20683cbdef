-- An import counts the rows that it stores: if the user has others at its end, somebody has written to the user
-- meanwhile.
alter table memory.imports add column rows_stored bigint not null default 0;
comment on column memory.imports.rows_stored is
'How many rows of the parts were stored so far; the others are from before the user was forgotten.';
