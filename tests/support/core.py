"""Runs tests of the core's rooms in an installation without the add-ons: ``--core``.

A test that calls a function of an add-on, reads a table or sets a setting of one, is skipped when it meets that. No
file of the core does so (tests/lint/lint_rooms.py). NEEDS has the tests that need an add-on otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import psycopg
import pytest

from tests.support import rooms

TESTS = rooms.SQL.parent / "tests"
FOLDERS = (
    "audit",
    "changes",
    "context",
    "documents",
    "embeddings",
    "erasure",
    "kinds",
    "memories",
    "messages",
    "models",
    "policy",
    "queue",
    "search",
    "summaries",
    "values",
)
"""The folders of the core's rooms."""
NEEDS = {
    "context/test_kept_texts.py": "artifacts",
    "kinds/test_describe_artifact.py": "artifacts",
    "kinds/test_screen_texts.py": "guard",
    "models/test_prompts.py": "guard or artifacts: they bring prompts",
    "queue/test_kinds.py": "guard or artifacts: it builds files that have them all",
    "test_a_bad_value_of_an_add_on_is_refused": "guard or sharing",
    "test_a_long_message_with_a_photo_keeps_it": "artifacts",
    "test_a_memory_in_quarantine_ends_nothing": "guard",
    "test_a_message_before_is_cut_after_its_credentials_are_masked": "guard",
    "test_a_repeated_installation_leaves_no_row_and_an_upgrade_one": "guard or another: it installs all",
    "test_a_whole_thread_has_compressed_messages_and_the_contents_of_artifacts": "artifacts",
    "test_an_unknown_section_is_refused_with_the_known_ones": "guard, of which it shows settings",
    "test_an_unknown_key_is_refused_with_the_known_ones": "guard, of which trust.screen is a setting",
    "test_an_output_in_quarantine_teaches_nothing": "guard",
    "test_artifacts_go_on_in_the_copy_when_the_origin_is_deleted": "artifacts",
    "test_forget_user_and_the_last_attempt_to_describe_an_artifact": "artifacts",
    "test_masks_leave_files_as_they_are": "guard",
    "test_objects_merge_key_by_key": "artifacts and sharing, of which it shows settings",
    "test_null_returns_to_what_is_inherited": "guard, of which trust.screen is a setting",
    "test_the_published_schema_is_that_of_the_tables": "guard or another: it shows all tables",
    "test_the_registry_has_the_columns_of_the_catalog": "guard or another: it knows all tables",
    "test_without_any_the_built_in_values_apply": "guard, of which trust.screen is a setting",
}
"""Tests and modules of these folders that need an add-on, and which."""
MADE = re.compile(r"^create (?:or replace )?(?:function|procedure|view|table|type) memory\.(\w+)", re.MULTILINE)


def of(paths: Iterable[Path]) -> set[str]:
    """What these files make."""
    return {name for path in paths for name in MADE.findall(path.read_text(encoding="utf-8"))}


IN_CORE = {path for path in rooms.files("*.sql") if path.is_relative_to(rooms.SQL / "core")}
OF_ADDONS = of({*rooms.files("*.sql")} - IN_CORE) - of(IN_CORE)
"""Functions, tables and types that only add-ons make."""


SETTINGS = {
    name
    for path in rooms.files("defaults.json")
    if path.is_relative_to(rooms.SQL / "addons")
    for section, settings in json.loads(path.read_text(encoding="utf-8")).items()
    for name in (section, *(f"{section}.{key}" for key in settings))
}
"""The settings of add-ons, and their sections."""
SOURCES = {"artifact"}
"""The sources of search that add-ons bring."""


def is_outside(path: Path) -> bool:
    """Whether a module of tests belongs to no room of the core."""
    return path.relative_to(TESTS).parts[0] not in FOLDERS


def skip_others(items: Iterable[pytest.Item]) -> None:
    """Skip the tests that need an add-on."""
    for item in items:
        for name in (item.path.relative_to(TESTS).as_posix(), item.name.partition("[")[0]):
            if name in NEEDS:
                item.add_marker(pytest.mark.skip(reason=f"needs the add-on {NEEDS[name]}"))


def is_of_an_addon(error: BaseException) -> bool:
    """Whether a call failed because the core does not have this function, table, type, setting or source."""
    if isinstance(error, KeyError):  # of Api
        return error.args[0] in OF_ADDONS
    if isinstance(error, psycopg.errors.InvalidParameterValue):
        unknown = re.match(r'(?:settings: unknown (?:section|key)|sources: unknown source) "([\w.]+)"', str(error))
        return unknown is not None and unknown[1] in SETTINGS | SOURCES
    missing = (psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedTable, psycopg.errors.UndefinedObject)
    return isinstance(error, missing) and bool(set(re.findall(r"\bmemory\.(\w+)", str(error))) & OF_ADDONS)
