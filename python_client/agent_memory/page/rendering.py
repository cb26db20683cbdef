"""The templates, and how values are written in them."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

FOLDER = Path(__file__).parent / "templates"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'none'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # addresses name users
    "Cross-Origin-Opener-Policy": "same-origin",
}


def address(view: str, /, **values: Any) -> str:
    """Return the address of a view; values that are None are left out."""
    said = {name: value for name, value in values.items() if value is not None}
    path = "/" if view == "users" else f"/page/{view}"
    return f"{path}?{urlencode(said, doseq=True)}" if said else path


def _moment(value: datetime | None) -> str:
    return "" if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


def _day(value: datetime | None) -> str:
    return "" if value is None else f"{value:%Y-%m-%d}"


def _number(value: Any) -> str:
    return "" if value is None else f"{value:,}"


def _counted(value: int, noun: str, plural: str | None = None) -> str:
    return f"{_number(value)} {noun if value == 1 else plural or noun + 's'}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=str)


_environment = Environment(
    loader=FileSystemLoader(FOLDER),
    autoescape=True,  # whatever people have stored is text
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.filters |= {
    "moment": _moment,
    "day": _day,
    "number": _number,
    "counted": _counted,
    "share": _share,
    "signed": _signed,
    "pretty": _pretty,
}
_environment.globals["address"] = address


def rendered(template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """Return the answer that a template makes of values."""
    return HTMLResponse(_environment.get_template(template).render(values), status)
