-- The result of memory._evidence_of().
create type memory._evidence as (
  prompt text[], given text, translates boolean, length int, words text[], language regconfig
);
comment on type memory._evidence is
'What the texts of a reply must rest on: the runs of words of the prompt, in lower case all that the model was given, '
'whether it may answer in another language; the characters of the texts that are cited, their words and language.';
