-- sql/build.py puts the sources of both packages in place of the marker, as plpython/embed.py writes them.
create or replace function memory._load_models()
returns void
language plpython3u volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $load_models$
import importlib.abc
import importlib.util
import os
import sys

PACKAGES = ('agent_memory_models', 'agent_memory_server')
SOURCES = {{sources}}

loaded = sys.modules.get(PACKAGES[0])
if loaded is None or getattr(loaded.__loader__, 'agent_memory_sources', None) != SOURCES:
    # The first call of this session, or the first call after an upgrade.
    replaced = {name: module for name, module in sys.modules.items() if name.partition('.')[0] in PACKAGES}
    if backend := replaced.get('agent_memory_server.backend'):
        backend.close_kept_models()

    class EmbeddedModules(importlib.abc.MetaPathFinder, importlib.abc.ExecutionLoader):
        """Imports the packages from SOURCES, even where another copy of them lies on sys.path."""

        agent_memory_sources = SOURCES
        packages = {name.rpartition('.')[0] for name in SOURCES}

        def find_spec(self, name, path=None, target=None):
            return importlib.util.spec_from_loader(name, self) if name in self.agent_memory_sources else None

        def is_package(self, name):
            return name in self.packages

        def get_source(self, name):
            return self.agent_memory_sources[name]

        def get_filename(self, name):
            return f'<{name}>'

    sys.meta_path[:] = [EmbeddedModules()] + [
        finder for finder in sys.meta_path if not hasattr(finder, 'agent_memory_sources')
    ]
    for name in replaced:
        sys.modules.pop(name, None)

# Where openai lives. From the server's environment, never from a setting: a session can change those. At the front,
# or else packages of the system's Python would win.
directory = os.environ.get('AGENT_MEMORY_PYTHONPATH')
if directory and sys.path[0] != directory:
    sys.path.insert(0, directory)
$load_models$;
comment on function memory._load_models() is
'Makes the model packages importable in this session. Callers of memory.run_jobs() need the right to call this, too.';
