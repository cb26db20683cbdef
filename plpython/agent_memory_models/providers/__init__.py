"""Providers of models: the built-in rules (local), and servers that speak OpenAI's protocol (openai, azure)."""
