"""Fills the "Proved by" column of docs/features.md from the ``feature`` marks of the tests.

``features.py`` rewrites the page. ``features.py --check`` writes nothing and fails when the page is stale or has too
long a row, when a listed feature has no test, or when a test names a feature that the page does not list.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "features.md"
ROW = re.compile(r"^\| (?P<id>[A-Z]\d+) \| (?P<text>[^|]+) \|[^|]*\|$", re.MULTILINE)
LONGEST_ROW = 300
# The address of a link, in the list at the end of the page: rows hold only the names.
ADDRESS = re.compile(r"^\[[^]]+\]: \.\./tests/.*\n?", re.MULTILINE)

Proofs = dict[str, list[tuple[str, str]]]
"""For each feature id the file and the name of each test that carries it."""


def marked_ids(nodes: Iterable[ast.AST]) -> list[str]:
    """The ids in every ``….feature("A1", "B2")`` call inside the nodes."""
    return [
        argument.value
        for node in nodes
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "feature"
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def tests_in(body: list[ast.stmt], inherited: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Name and feature ids of each test of a module or class; marks on either of those reach all their tests."""
    own = [
        node.value for node in body if isinstance(node, ast.Assign) and "pytestmark" in map(ast.unparse, node.targets)
    ]
    inherited = inherited + marked_ids(own)
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from tests_in(node.body, inherited + marked_ids(node.decorator_list))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node.name, inherited + marked_ids(node.decorator_list)


def collect_proofs() -> Proofs:
    """Read the marks of every test module."""
    proofs: Proofs = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for name, ids in tests_in(ast.parse(path.read_text(encoding="utf-8")).body, []):
            for feature in sorted(set(ids)):
                proofs[feature].append((path.relative_to(TESTS.parent).as_posix(), name))
    return proofs


def name_of(path: str) -> str:
    """The name of a link to a test file or, with a slash at its end, to a folder: messages/storing, messages/."""
    return path.removeprefix("tests/").replace("/test_", "/").removesuffix(".py")


def linked(paths: Iterable[str], room: int) -> list[str]:
    """The files to link; where their names take more room, the folders of those that are many stand for their files."""
    links = sorted(set(paths))
    folders = Counter("/".join(path.split("/")[:2]) + "/" for path in links)
    for folder, _ in sorted(folders.items(), key=lambda item: (-item[1], item[0])):
        if len(cell_of(links)) <= room:
            break
        links = sorted({folder if path.startswith(folder) else path for path in links})
    return links


def cell_of(links: Iterable[str]) -> str:
    """The cell of a row."""
    return ", ".join(f"[{name_of(path)}]" for path in links)


def fill_in(page: str, proofs: Proofs) -> str:
    """The page with its last column and the addresses of its links made anew."""
    addresses: set[str] = set()

    def row(match: re.Match[str]) -> str:
        start = f"| {match['id']} | {match['text']} | "
        links = linked((path for path, _ in proofs.get(match["id"], [])), LONGEST_ROW - len(start) - len(" |"))
        addresses.update(links)
        return f"{start}{cell_of(links)} |"

    rows = ROW.sub(row, ADDRESS.sub("", page).rstrip("\n"))
    return rows + "\n\n" + "".join(f"[{name_of(path)}]: ../{path}\n" for path in sorted(addresses, key=name_of))


def problems(page: str, proofs: Proofs) -> list[str]:
    """What ``--check`` complains about, in words."""
    listed = {match["id"] for match in ROW.finditer(page)}
    found = [f"{feature} is listed in {PAGE.name} but no test proves it" for feature in sorted(listed - proofs.keys())]
    for feature in sorted(proofs.keys() - listed):
        path, name = proofs[feature][0]
        found.append(f"{path}: {name} names {feature}, which {PAGE.name} does not list")
    found += [
        f"{PAGE.name}: row {match['id']} has {len(match[0])} characters, more than {LONGEST_ROW}"
        for match in ROW.finditer(page)
        if len(match[0]) > LONGEST_ROW
    ]
    if fill_in(page, proofs) != page:
        found.append(f"{PAGE.name} is stale: run 'make features'")
    return found


def main() -> int:
    """Run the command; returns its exit status."""
    page, proofs = PAGE.read_text(encoding="utf-8"), collect_proofs()
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(fill_in(page, proofs), encoding="utf-8")
        return 0
    found = problems(page, proofs)
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
