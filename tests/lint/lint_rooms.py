"""Checks the plan of the house: sql/core and sql/addons are divided into rooms, and these rules keep the rooms apart.

- A room calls functions of itself and of rooms before it, never of later ones; folders within a room form no circle.
  The queue's door (30_queue/door.sql) may be called from every room, because every room may ask for work; and the
  queue calls the work of later rooms in one file (30_queue/kinds.sql). The lists that sql/build.py makes
  (``{{each kind: …}}``) are not calls of the file that holds them.
- A file of the core names no function, table or type of an add-on.
- A file holds at most one public function and is named after it.
- Each public function has a COMMENT, stands in docs/, has a method in the client and occurs in a test.
- Each private function is used.
- Each public function and view stands in one group of sql/grants.json, and nothing else does. The first group is also
  the list FOR_USERS of the HTTP server, and what docs/roles.md grants to applications.
- Each policy key stands in the table of docs/policies.md, and each kind of job in docs/concepts.md and docs/jobs.md.
- A file that docs/ or a comment names by its path is there.
- A relative link of a page leads to a file, and its anchor to a heading of that file.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections import Counter, defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType

from tests.support import rooms

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "sql" / "core"
DOOR = CORE / "30_queue" / "door.sql"
KINDS = CORE / "30_queue" / "kinds.sql"

CREATED = re.compile(r"^create or replace (function|procedure|view) memory\.(\w+)", re.MULTILINE)
MADE = re.compile(r"^create (?:or replace )?(?:function|procedure|view|table|type) memory\.(\w+)", re.MULTILINE)
CALLED = re.compile(r"\bmemory\.(\w+)")
COMMENT_LINE = re.compile(r"--[^\n]*")
COMMENT_ON = re.compile(r"^comment on \w+ memory\.(\w+).*?';$", re.MULTILINE | re.DOTALL)
TEXT = re.compile(r"'(?:[^']|'')*'")
# A path in a page or a comment: from the root of the repository, or from the rooms.
PATH = re.compile(
    r"(?<![\w/.<>-])(?:(?:sql|plpython|python_client|tests|docs)/[\w/.-]*\w|\d\d_\w+(?:/[\w/.-]*\w)?)(?![\w/<>*{])"
)

# The functions that a user's token may call, in the HTTP server.
SERVER_FUNCTIONS = "python_client/agent_memory/server/functions.py"
# What docs/roles.md does not grant to applications, although a user's token may call it: storing secrets.
NOT_FOR_APPLICATIONS = {"set_secret", "delete_secret"}

# Public functions without a method in the client, and why.
NO_CLIENT_METHOD = {
    "claim_jobs": "workers",
    "complete_job": "workers",
    "fail_job": "workers",
    "release_job": "workers",
    "extend_job": "workers",
    "partition_of": "a function of the package, which needs no database",
    "record_calls": "workers",
    "schedule_jobs": "administrators, once per database",
}


def the_build() -> ModuleType:
    """sql/build.py, which knows the files of the rooms and the lists in them."""
    spec = importlib.util.spec_from_file_location("build", ROOT / "sql" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code(text: str) -> str:
    """SQL without comments, COMMENT ON and quoted texts: what is left names a function only where it is used."""
    return TEXT.sub("''", COMMENT_LINE.sub("", COMMENT_ON.sub("", text)))


def bodies(text: str) -> dict[str, str]:
    """The code of each function and view of a file, by name."""
    pieces = CREATED.split(code(text))[1:]
    return dict(zip(pieces[1::3], pieces[2::3], strict=True))


def upward_calls(homes: dict[str, Path], sources: dict[Path, str]) -> list[str]:
    """Calls of a function in a later room, and circles of folders."""
    problems = []
    folders: dict[str, set[str]] = defaultdict(set)
    for path, text in sources.items():
        for caller, body in bodies(text).items():
            for called in sorted(set(CALLED.findall(body)) & homes.keys()):
                home = homes[called]
                if home in (path, DOOR) or path == KINDS:
                    continue
                if room(home) > room(path):
                    problems.append(f"{show(path)}: {caller} calls {called} of a later room ({show(home)})")
                if folder(home) != folder(path):
                    folders[folder(path)].add(folder(home))
    try:
        TopologicalSorter(folders).prepare()
    except CycleError as error:
        problems.append("folders call each other in a circle: " + " -> ".join(error.args[1]))
    return problems


def named_addons() -> list[str]:
    """Functions, tables and types of add-ons that a file of the core names, although it must do without them."""
    files = {path: path.read_text(encoding="utf-8") for path in rooms.files("*.sql")}
    core = {path: text for path, text in files.items() if path.is_relative_to(CORE)}
    of_core = {name for text in core.values() for name in MADE.findall(text)}
    homes = {
        name: path.relative_to(rooms.SQL / "addons").parts[0]
        for path, text in files.items()
        if path not in core
        for name in MADE.findall(text)
        if name not in of_core
    }
    return [
        f"{show(path)}: names {name} of the add-on {homes[name]}; docs/architecture.md says how an add-on comes in"
        for path, text in core.items()
        for name in sorted(set(CALLED.findall(COMMENT_LINE.sub("", text))) & homes.keys())
    ]


def room(path: Path) -> str:
    return next(part for part in path.relative_to(ROOT).parts if part[0].isdigit())


def folder(path: Path) -> str:
    """The folder of a file within the tree of its room: that of an add-on counts as the core's of the same name."""
    parts = path.parent.parts
    return "/".join(parts[parts.index(room(path)) :])


def show(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def misplaced_functions(sources: dict[Path, str]) -> list[str]:
    """Public functions that are not alone in a file of their name."""
    problems = []
    for path, text in sources.items():
        public = [name for kind, name in CREATED.findall(text) if kind != "view" and not name.startswith("_")]
        if public and public != [path.stem]:
            problems.append(f"{show(path)}: holds {', '.join(public)}; one public function per file, named after it")
    return problems


def texts_of(folder: str, pattern: str, without: str = "") -> str:
    paths = (path for path in sorted((ROOT / folder).rglob(pattern)) if path.name != without)
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def incomplete_functions(sources: dict[Path, str]) -> list[str]:
    """Public functions that lack a comment, a place in the docs, a method in the client or a test."""
    docs = texts_of("docs", "*.md", without="reference.md") + (ROOT / "README.md").read_text(encoding="utf-8")
    client = texts_of("python_client", "*.py")
    tests = texts_of("tests", "*.py")
    problems = []
    for path, text in sources.items():
        for kind, name in CREATED.findall(text):
            if kind == "view" or name.startswith("_"):
                continue
            missing = []
            if not re.search(rf"^comment on {kind} memory\.{name}\b", text, re.MULTILINE):
                missing.append("a COMMENT")
            if not re.search(rf"\b{name}\b", docs):
                missing.append("a place in docs/ (its name in docs/python.md)")
            if name not in NO_CLIENT_METHOD and not re.search(rf"\bdef {name}\b", client):
                missing.append("a method in python_client/agent_memory/client/_async/")
            if not re.search(rf"\b{name}\b", tests):
                missing.append("a test (and a call in tests/values/bad_arguments.py)")
            if missing:
                problems.append(f"{show(path)}: {name} lacks {' and '.join(missing)}")
    return problems


def unused_functions(homes: dict[str, Path], built: dict[Path, str]) -> list[str]:
    """Private functions that no other function, trigger, view or Python file uses."""
    users: dict[str, set[str]] = defaultdict(set)
    for path, text in built.items():
        for caller, body in bodies(text).items():
            for called in set(CALLED.findall(body)) - {caller}:
                users[called].add(show(path))
    elsewhere = "\n".join(path.read_text(encoding="utf-8") for path in rooms.files("triggers.sql"))
    elsewhere += (ROOT / "sql" / "triggers.py").read_text(encoding="utf-8")  # conditions that it puts into triggers
    build = the_build()
    elsewhere += build.composed(build.WHOLE, (ROOT / "sql" / "privileges.sql").read_text(encoding="utf-8"))
    elsewhere += texts_of("plpython", "*.sql") + texts_of("plpython", "*.py")
    elsewhere += texts_of("python_client/agent_memory/calls/_async", "*.py")
    elsewhere += texts_of("python_client/agent_memory/cluster", "*.py")
    elsewhere += texts_of("python_client/agent_memory/embedded", "*.py")
    # Names in statements that are put together as texts when they run.
    quoted = "\n".join(match for text in built.values() for match in TEXT.findall(COMMENT_ON.sub("", text)))
    return [
        f"{show(path)}: nothing uses {name}"
        for name, path in homes.items()
        if name.startswith("_")
        and not users[name]
        and not re.search(rf"\bmemory\.{name}\b", elsewhere)
        and not re.search(rf"\bmemory\.{name}\b", quoted)
    ]


def wrong_grants(built: dict[Path, str], granted: list[tuple[str, list[str]]]) -> list[str]:
    """Public functions and views that stand in no group of sql/grants.json or in two, and names that nothing has."""
    created = {name for text in built.values() for _, name in CREATED.findall(text)}
    created |= set(re.findall(r"^ *create or replace \w+ memory\.(\w+)", texts_of("plpython", "*.sql"), re.MULTILINE))
    public = {name for name in created if not name.startswith("_")}
    groups = Counter(name for _, names in granted for name in names)
    return [
        *(
            f"sql/grants.json: {name} is in no group; the first is for applications and users, the last for nobody"
            for name in sorted(public - groups.keys())
        ),
        *(f"sql/grants.json: {name} is in {number} groups" for name, number in groups.items() if number > 1),
        *(f"sql/grants.json: there is no {name}" for name in sorted(groups.keys() - created)),
    ]


def wrong_lists_for_users(for_users: set[str]) -> list[str]:
    """Functions for users that another list than sql/grants.json lacks, or that it has beyond them."""
    server = (ROOT / SERVER_FUNCTIONS).read_text(encoding="utf-8")
    roles = (ROOT / "docs" / "roles.md").read_text(encoding="utf-8")
    [listed] = re.findall(r"^FOR_USERS = frozenset\(\{(.*?)\}\)", server, re.MULTILINE | re.DOTALL)
    [granted] = re.findall(r"grant execute on function ([^;]*) to app;\n-- if its", roles)
    problems = []
    for place, names, wanted in (
        (f"{SERVER_FUNCTIONS} (FOR_USERS)", set(re.findall(r'"(\w+)"', listed)), for_users),
        (
            "docs/roles.md (an application)",
            set(re.findall(r"memory\.(\w+)", granted)),
            for_users - NOT_FOR_APPLICATIONS,
        ),
    ):
        problems += [f"{place}: add {name}, which is in the first group of sql/grants.json" for name in wanted - names]
        problems += [f"{place}: {name} is not in the first group of sql/grants.json" for name in names - wanted]
    return sorted(problems)


def undescribed_settings() -> list[str]:
    """Policy keys that the table of docs/policies.md lacks, and kinds of jobs that a page lacks."""
    docs = ROOT / "docs"
    described = set()
    for row in re.findall(r"^\| (`\w+\..*?) \|", (docs / "policies.md").read_text(encoding="utf-8"), re.MULTILINE):
        section = ""
        for name in re.findall(r"`([\w.]+)`", row):  # such as `search.fusion`, `.rrf_k`
            section = name.partition(".")[0] or section
            described.add(f"{section}.{name.partition('.')[2]}")
    problems = [
        f"{show(path)}: {section}.{key} has no row in the table of docs/policies.md"
        for path in rooms.files("defaults.json")
        for section, settings in json.loads(path.read_text(encoding="utf-8")).items()
        for key in settings
        if f"{section}.{key}" not in described
    ]
    kinds = sorted(path.name for path in (CORE / "50_work").iterdir() if path.is_dir())
    for page, place in (("concepts.md", "the table of jobs"), ("jobs.md", "payloads and results")):
        text = (docs / page).read_text(encoding="utf-8")
        problems += [
            f"sql/core/50_work/{kind}: docs/{page} says nothing of it in {place}"
            for kind in kinds
            if f"`{kind}`" not in text
        ]
    return problems


def wrong_paths(sources: dict[Path, str]) -> list[str]:
    """Paths of files and folders that pages and comments name, where nothing is."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    texts = {path: path.read_text(encoding="utf-8") for path in pages}
    folders = {path.parent for path in rooms.ROOMS}
    texts |= {path: "\n".join(COMMENT_LINE.findall(text)) for path, text in sources.items()}
    return [
        f"{show(path)}: names {name}, which is not there"
        for path, text in texts.items()
        for name in sorted(set(PATH.findall(text)))
        if not any((folder / name).exists() for folder in (ROOT, *folders))
    ]


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(pages: list[Path]) -> list[str]:
    """Relative links that lead to no file or to no heading."""
    problems = []
    for page in pages:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$", text, re.MULTILINE):
            name, _, anchor = "".join(link).partition("#")
            target = (page.parent / name) if name else page
            if re.match(r"\w+:", name):
                continue
            if not target.exists():
                problems.append(f"{show(page)}: links to {name}, which is not there")
            elif anchor and anchor not in anchors_of(target):
                problems.append(f"{show(page)}: links to {name}#{anchor}, a heading that is not there")
    return problems


def the_groups() -> list[tuple[str, list[str]]]:
    """What each group of rights holds: its description and its functions and views."""
    return [(group["what"], [*group["functions"], *group["views"]]) for group in rooms.groups()]


def main() -> int:
    build = the_build()
    built: dict[Path, str] = build.rooms()
    sources = {path: path.read_text(encoding="utf-8") for path in built}
    homes = {name: path for path, text in built.items() for _, name in CREATED.findall(text)}
    points = {name: path for path in rooms.files("points.sql") for _, name in CREATED.findall(path.read_text())}
    problems = [
        *upward_calls(homes | points, sources),
        *named_addons(),
        *misplaced_functions(sources),
        *incomplete_functions(sources),
        *unused_functions(homes, built),
        *wrong_paths(sources),
        *broken_links([*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md")), *(ROOT / "bench").rglob("*.md")]),
        *wrong_grants(built, the_groups()),
        *wrong_lists_for_users(set(the_groups()[0][1])),
        *undescribed_settings(),
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
