"""Hooks of mkdocs: README.md is the first page of the site, and what is outside of docs/ is named without a link."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
DEFINITION = re.compile(r"^\[[^\]]+\]: \.\./\S+\n", re.MULTILINE)
DEFINED = re.compile(r"\[([^\]]+)\](?:\[[^\]]*\])")


def on_files(files: Files, config: Any) -> Files:
    """Adds README.md as index.md."""
    files.append(File.generated(config, "index.md", content=_within_docs((ROOT / "README.md").read_text())))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Leaves the text of links that lead out of docs/, because the site has only docs/."""
    if DEFINITION.search(markdown):
        markdown = DEFINED.sub(r"\1", DEFINITION.sub("", markdown))
    return LINK.sub(lambda link: link[1] if link[2].startswith("../") else link[0], markdown)


def _within_docs(readme: str) -> str:
    """README.md as a page of docs/: its links to docs/ lead to the page beside it."""
    return re.sub(
        r"\]\((?!https?://|#)([^)\s]+)\)",
        lambda link: f"]({link[1].removeprefix('docs/')})" if link[1].startswith("docs/") else f"](../{link[1]})",
        readme,
    )
