-- Calls a model while the caller waits. The result is the model's reply, or {"problem": the reason why there is none}.
-- The ledger gets the call, unless the transaction is read-only.
create or replace function memory._ask_model(
  p_kind text, p_user_id text, p_agent_id text, p_model memory.models, p_payload jsonb
)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  -- A caller waits at most ten seconds, or as long as the model's settings allow if that is less.
  seconds constant numeric := least((p_model.settings ->> 'timeout_seconds')::numeric, 10);
  model constant jsonb := memory._model_json(p_model)
    || jsonb_build_object('settings', p_model.settings || jsonb_build_object('timeout_seconds', seconds));
  reply jsonb;
  calls jsonb;
begin
  reply := memory._call_model(p_kind, jsonb_build_object('model', model)
    || p_payload || memory._json_masked(p_payload - 'prompt', '{credential}'));
  calls := coalesce(nullif(reply -> 'calls', 'null'), '[]');
  if jsonb_array_length(calls) > 0 and current_setting('transaction_read_only') = 'off' then
    perform memory._enter_calls(p_user_id, null, case p_kind when 'embed' then 'search' else p_kind end, p_agent_id,
      p_model.name, calls);
  end if;
  return coalesce(reply -> 'result', jsonb_build_object('problem', reply ->> 'error'));
end;
$$;
