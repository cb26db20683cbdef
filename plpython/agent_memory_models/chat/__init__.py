"""Chat models: the messages they get (prompts), the replies they may give (replies), and both for a job (question)."""
