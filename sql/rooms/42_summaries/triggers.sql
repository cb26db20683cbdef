create trigger summaries_200_after_delete
after delete on memory.summaries
referencing old table as old_rows for each statement
when ({{not copied}})
execute function memory._summaries_after_delete();
