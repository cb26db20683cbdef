set local search_path = pg_catalog, pg_temp;
