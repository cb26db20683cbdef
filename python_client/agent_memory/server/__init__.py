"""The HTTP server, ``agent-memory serve``: document B's endpoints, and one for each public function of the database.

Nothing here is imported before a server is asked for; the packages are those of the extra ``server``.

- serve.py: opens the database, listens, and stops in an orderly way; settings.py: what the environment says.
- application.py: puts everything together. A page or another protocol is mounted there, behind the same access.py.
- access.py: who calls, by key or token (tokens.py), how often (rates.py), and from where (loopback.py).
- catalog.py reads the functions of the database, functions.py makes their endpoints, endpoint.py is one endpoint.
- agents.py: the endpoints under /api/v1/agents; extraction.py: the one that has to wait for a model.
- health.py, metrics.py: what is said of the server itself.
- problems.py: every error as a problem of RFC 9457. bodies.py: how long a body may be, and may take.
"""
