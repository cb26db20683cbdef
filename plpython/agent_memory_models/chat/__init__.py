"""Chat models: what they are told (prompts), what they may reply (replies), and the two together (question)."""
