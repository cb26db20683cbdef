#!/bin/bash
# Runs once, when the container creates its database cluster: extensions, agent_memory, and the regular sweep.
set -euo pipefail

run() { psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" "$@"; }

run --dbname="$POSTGRES_DB" \
    --command='create extension if not exists vector' \
    --command='create extension if not exists plpython3u' \
    --file="${AGENT_MEMORY_SQL:-/opt/agent_memory/agent_memory.sql}"

# pg_cron lives in one database of the cluster, "postgres" unless cron.database_name says otherwise.
run --dbname=postgres --set=database="$POSTGRES_DB" <<'SQL'
create extension if not exists pg_cron;
select cron.schedule_in_database('agent_memory sweep ' || :'database', '17 3 * * *', 'select memory.sweep()', :'database') \g /dev/null
SQL
