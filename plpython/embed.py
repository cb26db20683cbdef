"""Turns the model package into a Python literal that a PL/Python body can carry."""

from __future__ import annotations

from pathlib import Path


def embed(package_dir: Path) -> str:
    """A dict literal, module name to source text, of every module in the package directory.

    It is plain ASCII without a dollar sign, so no dollar quote can end inside it, and it has one line for each line of
    source, so that two versions of the built file can be compared.
    """
    modules = []
    for path in sorted(package_dir.glob("*.py")):
        name = package_dir.name if path.stem == "__init__" else f"{package_dir.name}.{path.stem}"
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        literals = "\n".join(f"        {line!a}" for line in lines or [""]).replace("$", r"\x24")
        modules.append(f"    {name!r}: (\n{literals}\n    ),\n")
    return "{\n" + "".join(modules) + "}"
