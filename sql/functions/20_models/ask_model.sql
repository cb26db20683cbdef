-- One call of a model while its caller waits, entered in the ledger: its result, or {"problem": why there is none}.
create or replace function memory._ask_model(kind text, user_id text, agent_id text, model memory.models, payload jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Somebody waits: ten seconds unless the model's own limit is lower.
  patient constant jsonb := jsonb_build_object('timeout_seconds', least((model.settings ->> 'timeout_seconds')::numeric, 10));
  reply jsonb;
begin
  reply := memory._call_model(kind, jsonb_build_object('model', memory._model_json(model) || jsonb_build_object('settings', model.settings || patient)) || payload);
  if jsonb_array_length(coalesce(nullif(reply -> 'calls', 'null'), '[]')) > 0 and current_setting('transaction_read_only') = 'off' then
    perform memory._enter_calls(user_id, null, case kind when 'embed' then 'search' else kind end, agent_id, model.name, reply -> 'calls');
  end if;
  return coalesce(reply -> 'result', jsonb_build_object('problem', reply ->> 'error'));
end;
$$;
