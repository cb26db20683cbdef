"""Writes Python packages as a literal that the body of a PL/Python function can carry."""

from __future__ import annotations

from pathlib import Path


def embed(*package_dirs: Path) -> str:
    """A dict literal, name of the module to its source text, of every module in the packages and their sub-packages.

    The literal is plain ASCII without a dollar sign, so no dollar quote can end inside it. Each line of source has a
    line and a string of its own: two versions of the built file can be compared, and PL/Python puts a tab before each
    line of a body, which a string over several lines would have inside.
    """
    modules = []
    for package_dir in package_dirs:
        for path in sorted(package_dir.rglob("*.py")):
            relative = path.relative_to(package_dir.parent).with_suffix("")
            name = ".".join(relative.parts).removesuffix(".__init__")
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            literals = "\n".join(f"{line!a}" for line in lines or [""]).replace("$", r"\x24")
            modules.append(f"{name!r}: (\n{literals}\n),\n")
    return "{\n" + "".join(modules) + "}"
