create constraint trigger import_100_is_finished
after insert on memory.imports
deferrable initially deferred
for each row
execute function memory._refuse_unfinished_import();
