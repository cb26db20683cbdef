-- One call of a model while its caller waits, entered in the ledger: its result, or {"problem": why there is none}.
create or replace function memory._ask_model(p_kind text, p_user_id text, p_agent_id text, p_model memory.models, p_payload jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  -- Somebody waits: ten seconds unless the model's own limit is lower.
  patient constant jsonb := jsonb_build_object('timeout_seconds', least((p_model.settings ->> 'timeout_seconds')::numeric, 10));
  reply jsonb;
begin
  reply := memory._call_model(p_kind, jsonb_build_object('model', memory._model_json(p_model) || jsonb_build_object('settings', p_model.settings || patient)) || p_payload);
  if jsonb_array_length(coalesce(nullif(reply -> 'calls', 'null'), '[]')) > 0 and current_setting('transaction_read_only') = 'off' then
    perform memory._enter_calls(p_user_id, null, case p_kind when 'embed' then 'search' else p_kind end, p_agent_id, p_model.name, reply -> 'calls');
  end if;
  return coalesce(reply -> 'result', jsonb_build_object('problem', reply ->> 'error'));
end;
$$;
