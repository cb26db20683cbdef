-- sql/build.py puts the sources of plpython/agent_memory_models in place of the marker, as plpython/embed.py writes them.
-- No SET clause and no SECURITY DEFINER: a procedure with either may not commit. It only calls hardened functions by
-- qualified name.
create or replace procedure memory.run_jobs(max_jobs int default 100, max_seconds int default 60)
language plpython3u
as $run_jobs$
import importlib.abc
import importlib.util
import os
import sys

PACKAGE = 'agent_memory_models'
SOURCES = {{model_package}}

class EmbeddedModules(importlib.abc.MetaPathFinder, importlib.abc.ExecutionLoader):
    """Imports the package from SOURCES, before any copy of it that may lie on sys.path."""

    agent_memory_sources = SOURCES

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name in self.agent_memory_sources else None

    def is_package(self, name):
        return name == PACKAGE

    def get_source(self, name):
        return self.agent_memory_sources[name]

    def get_filename(self, name):
        return f'<{name}>'

loaded = sys.modules.get(PACKAGE)
if loaded is None or getattr(loaded.__loader__, 'agent_memory_sources', None) != SOURCES:
    # The first call of this session, or the first one after an upgrade.
    sys.meta_path[:] = [EmbeddedModules()] + [finder for finder in sys.meta_path if not hasattr(finder, 'agent_memory_sources')]
    for name in [name for name in sys.modules if name.partition('.')[0] == PACKAGE]:
        del sys.modules[name]

# Where openai lives. From the server's environment, never from a setting: a session can change those. At the front,
# or else packages of the system's Python would win.
directory = os.environ.get('AGENT_MEMORY_PYTHONPATH')
if directory and sys.path[0] != directory:
    sys.path.insert(0, directory)

from agent_memory_models.database_runner import run_jobs

run_jobs(plpy, max_jobs, max_seconds)
$run_jobs$;
comment on procedure memory.run_jobs(int, int) is
'Runs queued model work inside the server: claims jobs, calls their models up to ten at a time, stores the results. Ends when no job is due, max_jobs were claimed or max_seconds have passed; calls under way are awaited. CALL it as a statement of its own, outside a transaction; it commits before every model call and can be cancelled at any time: its jobs then go back to the queue. Needs plpython3u. Packages for provider openai are imported from the directory in the server''s environment variable AGENT_MEMORY_PYTHONPATH; keys come from that environment, or from files in the directory that AGENT_MEMORY_KEY_DIR names.';
