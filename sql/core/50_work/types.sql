-- The result of memory._evidence_of().
create type memory._evidence as (
  prompt text[], given text, translates boolean, length int, words text[], language regconfig
);
comment on type memory._evidence is
'The evidence on which the texts of a reply must rest: the runs of words of the prompt; all texts that the model was '
'given, in lower case; whether the model may answer in another language; the number of characters, the words and the '
'language of the cited texts.';
