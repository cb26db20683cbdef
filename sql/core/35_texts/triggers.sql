create trigger model_100_after_delete
after delete on memory.models
for each row
when (old.kind = 'embedding')
execute function memory._model_after_delete();
