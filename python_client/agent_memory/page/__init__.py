"""The page: what is stored and what a model would see, as HTML that the HTTP server shows at "/".

Forms and links only: no script runs, nothing is fetched from elsewhere. All data comes from the functions and views of
schema ``memory`` that docs/reference.md lists.

- routes.py: the addresses of all views. view.py: what each view goes through: who may look, errors, headers.
- sessions.py: login in a browser. asked.py: what an address or a form says. rendering.py: the templates.
- database.py: one connection for a request, and what the database says beside its answers.
- One file for each group of views: conversations.py, contexts.py, memories.py, review.py, found.py, work.py,
  rules.py, alike.py.
"""
