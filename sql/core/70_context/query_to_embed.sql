-- The text and the model with which a client embeds a query where the server cannot. The steps of such a client: call
-- this function; ask the model for the embedding of text; keep the embedding with memory.keep_query_embedding();
-- search.
create or replace function memory.query_to_embed(
  user_id text, query text default null, thread_id text default null, agent_id text default null,
  is_context boolean default false, probe boolean default false
)
returns table (
  model jsonb, text text, server_embeds boolean, is_read_only boolean, has_due_jobs boolean
)
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  serving memory.models;
  known record;
begin
  perform memory._check_id('user_id', user_id),
    memory._check_id('thread_id', coalesce(thread_id, 'any')),
    memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if (memory._embedding_model()).name is null then
    return;
  end if;
  query := memory._query_or_null(query);
  if query is null and thread_id is not null then
    query := memory._newest_question(user_id, thread_id, agent_id);
  end if;
  serving := memory._query_model(user_id, coalesce(query, ''), null);
  known := memory._query_embedding(user_id, query, null, serving);
  model := memory._model_json(serving);
  if known.embedding is null
    and not (is_context and not (memory._policy_section(user_id, agent_id, 'context') ->> 'embed_query')::boolean) then
    begin
      perform memory._check_budget(user_id, agent_id, model, memory._estimate_tokens(query), false);
      text := memory._without_credentials(query);
    exception
      when sqlstate 'AM002' then null; -- The budget is spent.
    end;
  end if;
  -- Whether the server has PL/Python and everything else that the model needs, such as a key, packages or weights.
  -- Without texts nothing is asked of the model.
  server_embeds := probe and not memory._call_model(
    'embed', jsonb_build_object('model', model, 'prompt', null, 'texts', jsonb '[]')) ? 'error';
  is_read_only := current_setting('transaction_read_only')::boolean;
  has_due_jobs := exists (
    select from memory.jobs as j
    where j.user_id = query_to_embed.user_id and j.kind = 'embed'
      and (j.status = 'pending' and j.run_after <= clock_timestamp() or j.status = 'running'));
  return next;
end;
$$;
comment on function memory.query_to_embed(text, text, text, text, boolean, boolean) is
'What a client does before a search or, with is_context, before a context: the embedding model that serves the user; '
'the text that it is to embed with it, null where nothing is to be embedded or the embedding is kept already; with '
'probe whether the server can call the model by itself; and whether embed jobs of the user are due or running. '
'Without a query, text is the newest message of the user in the thread. No row: no embedding model is active.';
