create trigger document_100_before_write
before insert or update on memory.documents
for each row
when ({{not copied}})
execute function memory._document_before_write();

-- This trigger runs before document_200, which may put the document into quarantine.
create trigger document_150_after_change
after insert or update or delete on memory.documents
for each row
execute function memory._document_after_change();

create trigger document_200_after_insert
after insert on memory.documents
for each row
when ({{not copied}})
execute function memory._document_after_write();

create trigger document_200_after_update
after update on memory.documents
for each row
when ((new.title, new.content) is distinct from (old.title, old.content))
execute function memory._document_after_write();

create trigger document_200_after_delete
after delete on memory.documents
for each row
when (old.source = 'consolidation' and ({{not copied}}))
execute function memory._article_after_delete();
