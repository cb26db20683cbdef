-- Models that are switched off, embeddings that point nowhere, and errors that repeated what users said.
alter table memory.models add column is_off boolean not null default false;
comment on column memory.models.is_off is
'By memory.deactivate_model(): nothing is asked of it and nothing is compared with its embeddings until it is '
'activated or registered again.';

-- An embedding of zeros is as near to everything as to nothing. Whatever is embedded so is embedded again.
do $zeros$
declare
  vector_schema constant text := current_setting('agent_memory.vector_schema');
begin
  execute format('delete from memory.embeddings where %I.l2_norm(embedding) = 0', vector_schema);
  execute format('delete from memory.query_embeddings where %I.l2_norm(embedding) = 0', vector_schema);
  execute format('alter table memory.embeddings add constraint embedding_has_a_direction check (%I.l2_norm(embedding) > 0)', vector_schema);
  execute format('alter table memory.query_embeddings add constraint embedding_has_a_direction check (%I.l2_norm(embedding) > 0)', vector_schema);
end;
$zeros$;

-- What was kept until now may repeat prompts. What kind of failure it was stays.
update memory.model_calls as c
set error = coalesce(substring(c.error from '^(Error code: [0-9]{3}|no reply from [^ ]+|no answer from the model|the model refused|the reply|cancelled|[A-Z][A-Za-z]*Error)'),
                     'failed') || ' (the rest was removed)'
where c.error is not null and c.error <> 'cancelled' and c.error not like 'the lease of worker %';
update memory.jobs as j
set error = coalesce(substring(j.error from '^(Error code: [0-9]{3}|no reply from [^ ]+|no answer from the model|the model refused|the reply|result|[A-Z][A-Za-z]*Error)'),
                     'failed') || ' (the rest was removed)'
where j.error is not null and j.error not like 'AM002%' and j.error not like 'the lease of worker %';
