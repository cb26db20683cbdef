-- The active models, and how their last call went as far as the newest 10,000 calls of the ledger tell.
create or replace function memory._model_status()
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return coalesce((
    with calls as (
      select c.model, c.called_at, c.error from memory.model_calls as c order by c.called_at desc limit 10000
    )
    select jsonb_agg(jsonb_build_object('kind', m.kind, 'name', m.name, 'provider', m.provider, 'model', m.model,
                                        'last_called_at', l.called_at, 'last_error', l.error) order by m.kind)
    from memory.models as m
    left join lateral (
      select c.called_at, left(c.error, 300) as error from calls as c where c.model = m.name
      order by c.called_at desc limit 1) as l on true
    where m.is_active), '[]');
end;
$$;
