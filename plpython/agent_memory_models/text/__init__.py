"""Work on texts that needs no model: tokens, sentences, words, statements, chunks and dates."""
