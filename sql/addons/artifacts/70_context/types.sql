create type memory._passage as (key text, content_id uuid, first_byte int, end_byte int, score double precision);
comment on type memory._passage is
'A place in an artifact that says something of a query: end_byte is the byte after its last one, score is from 0 to '
'1.';
