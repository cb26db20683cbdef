"""Memory for coding assistants: programs that an assistant starts at moments of a session, which it calls hooks.

At the start of a session a hook gives the assistant what is remembered about the folder; with each turn a hook stores
what was said, without the model asking for it. A session is a thread. ``agent-memory hooks install`` writes the hooks
into the assistant's own settings.

The formats are those that the assistants document:

- Claude Code: https://code.claude.com/docs/en/hooks ("Hooks reference": settings.json, the events, ``async``,
  ``hookSpecificOutput.additionalContext``); the lines of its transcript are not documented, so what is not recognised
  in them is passed over.
- Codex: https://developers.openai.com/codex/hooks (hooks.json, the trust of a hook), and the schemas of input and
  output in codex-rs/hooks/schema/generated of github.com/openai/codex.
- Gemini CLI: docs/hooks/reference.md of github.com/google-gemini/gemini-cli (settings.json, whose timeouts are in
  milliseconds).

Modules: assistants.py says how the assistants differ, settings.py changes their files, run.py is one
call of a hook, turns.py finds what was said, recall.py what is worth telling, place.py opens the memory, and keep.py
keeps an embedded store running meanwhile.
"""
