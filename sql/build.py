"""Builds build/agent_memory.sql, the one file that installs and upgrades.

Order: head.sql, upgrade.sql, incremental/ (each file wrapped so that it runs once per database), replaced.sql with
the heads of all functions, idempotent/ with the built-in prompts of prompts/, the functions of plpython/ with the model
package inside, privileges.sql. Needs nothing but the standard library.

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
call memory._migrate('{name}', '{sha256}', '{{{{version}}}}', $migration$
{body}$migration$);
"""
# The head of a function up to its language: kind, name, arguments and result.
HEADER = re.compile(
    r"^ *create or replace (function|procedure) memory\.(\w+)(\(.*?)\n *language ", re.MULTILINE | re.DOTALL
)
VIEW = re.compile(r"^create or replace view memory\.(\w+) as\n(.*?);$", re.MULTILINE | re.DOTALL)


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


def replaceable(text: str) -> str:
    """The SQL with each view created by memory._replace_view()."""
    if len(VIEW.findall(text)) != text.count("create or replace view"):
        raise SystemExit("a view has another head than build.py reads: create or replace view memory.name as")
    return VIEW.sub(r"call memory._replace_view('\1', $view$\n\2\n$view$);", text)


def headers(text: str) -> str:
    """Kind, name and signature of every function in the text, as the rows of a VALUES list."""
    found = HEADER.findall(text.replace("%1$I.", ""))  # pgvector's schema, which replaced.sql has on the search_path
    if len(found) != len(re.findall("create or replace (?:function|procedure)", text)):
        raise SystemExit("a function has another head than build.py reads: its language begins a line of its own")
    rows = [
        f"      ('{kind}', '{name}', $header${signature}$header$)" for kind, name, signature in dict.fromkeys(found)
    ]
    return ",\n".join(rows)


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
    idempotent = "\n".join(path.read_text().replace("{{prompts}}", prompts()) for path in sources("idempotent"))
    functions = runner()
    views = ",".join(name for name, _ in VIEW.findall(idempotent))
    upgrade = (SQL / "upgrade.sql").read_text().replace("{{views}}", views)
    heads = headers(upgrade + idempotent + functions)
    replaced = (SQL / "replaced.sql").read_text().replace("{{headers}}", heads)
    parts = [(SQL / "head.sql").read_text(), upgrade]
    parts += [once(path) for path in sources("incremental")]
    parts += [replaced, replaceable(idempotent), functions, (SQL / "privileges.sql").read_text()]
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
