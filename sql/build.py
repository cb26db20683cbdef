"""Builds build/agent_memory.sql, the one file that installs and upgrades.

Order: head.sql, incremental/ (each file wrapped so that it runs once per database), idempotent/ with the built-in
prompts of prompts/, the functions of plpython/ with the model package inside, privileges.sql. Needs nothing
but the standard library.

    python sql/build.py            write the file
    python sql/build.py --check    fail when the file is not what the sources build, or a released file was changed
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

SQL = Path(__file__).resolve().parent
ROOT = SQL.parent
OUTPUT = ROOT / "build" / "agent_memory.sql"
FROZEN = SQL / "incremental" / "frozen.txt"

sys.path.insert(0, str(ROOT / "plpython"))
from embed import embed  # noqa: E402  (a neighbour, not an installed package)

ONCE = """\
do $once$
declare
  applied text;
  bound regprocedure;
begin
  select migrations.sha256 into applied from memory.migrations where migrations.name = '{name}';
  if applied is null then
    -- Functions that are bound to tables would stand in the way of changing them; they are created again below.
    for bound in
      select pg_proc.oid from pg_proc where pronamespace = 'memory'::regnamespace and prosqlbody is not null
    loop
      -- Unless it went with one that it is built on.
      if exists (select from pg_proc where pg_proc.oid = bound) then
        execute format('drop function %s cascade', bound);
      end if;
    end loop;
    execute $migration$
{body}$migration$;
    insert into memory.migrations (name, sha256, version) values ('{name}', '{sha256}', '{{{{version}}}}');
  elsif applied <> '{sha256}' then
    raise exception 'migration {name} ran in this database with other contents'
      using errcode = '0A000', hint = 'This database was installed from an unreleased file; install into a fresh one.';
  end if;
end;
$once$;
"""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def version() -> str:
    match = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert match, "pyproject.toml names no version"
    return match[1]


def sources(folder: str) -> list[Path]:
    """The numbered SQL files of a folder, in order."""
    return sorted((SQL / folder).glob("[0-9][0-9][0-9]_*.sql"))


def once(path: Path) -> str:
    body = path.read_text()
    return ONCE.format(name=path.stem, sha256=sha256(body), body=body)


def prompts() -> str:
    """The built-in prompts of prompts/*.txt as the rows of a VALUES list."""
    paths = sorted((SQL / "prompts").glob("*.txt"))
    return ",\n".join(f"    ('{path.stem}', $prompt${path.read_text()}$prompt$)" for path in paths)


def runner() -> str:
    """The functions of plpython/, created only where plpython3u is or can be had."""
    package = embed(ROOT / "plpython" / "agent_memory_models")
    names = ("load_models", "call_model", "run_jobs")
    functions = "".join((ROOT / "plpython" / f"{name}.sql").read_text() for name in names)
    template = (SQL / "runner.sql").read_text()
    return template.replace("{{functions}}", functions.replace("{{model_package}}", package))


def build() -> str:
    parts = [(SQL / "head.sql").read_text()]
    parts += [once(path) for path in sources("incremental")]
    parts += [path.read_text().replace("{{prompts}}", prompts()) for path in sources("idempotent")]
    parts += [runner(), (SQL / "privileges.sql").read_text()]
    return "\n".join(parts).replace("{{version}}", version())


def changed_frozen_files() -> list[str]:
    """Released incremental files (frozen.txt: "sha256  name" per line) that are gone or not what was released."""
    lines = FROZEN.read_text().splitlines() if FROZEN.exists() else []
    frozen = {name: digest for digest, name in (line.split() for line in lines)}
    current = {path.name: sha256(path.read_text()) for path in sources("incremental")}
    return [name for name, released in frozen.items() if current.get(name) != released]


def main() -> int:
    for name in changed_frozen_files():
        print(f"sql/incremental/{name} was released and must not change; add a new file", file=sys.stderr)
        return 1
    built = build()
    if "--check" not in sys.argv[1:]:
        OUTPUT.parent.mkdir(exist_ok=True)
        OUTPUT.write_text(built)
        print(f"{OUTPUT.relative_to(ROOT)}: {built.count(chr(10))} lines")
    elif not OUTPUT.exists() or OUTPUT.read_text() != built:
        print("build/agent_memory.sql is not what sql/ builds; run: make build", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
