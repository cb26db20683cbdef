"""The images install pinned packages with hashes."""

from __future__ import annotations

import re
import sys

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.servers import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

pytestmark = pytest.mark.feature("F9")

LOCKS = ROOT / "docker" / "requirements"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PLPYTHON = [line for line in (ROOT / "plpython/requirements.txt").read_text().splitlines() if line[:1] not in ("#", "")]


def wanted_by(*extras: str) -> list[str]:
    """What the package needs with these extras, and with the extras of its own that they name."""
    wanted = list(PROJECT["dependencies"])
    for requirement in [Requirement(line) for extra in extras for line in EXTRAS[extra]]:
        if requirement.name == PROJECT["name"]:
            wanted += wanted_by(*requirement.extras)
        else:
            wanted.append(str(requirement))
    return wanted


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Version and number of hashes of each package of a lock file."""
    found = re.findall(r"^(\S+)==(\S+)(.*(?:\n    .*)*)", (LOCKS / f"{name}.txt").read_text(), re.MULTILINE)
    return {canonicalize_name(package): (version, rest.count("--hash=sha256:")) for package, version, rest in found}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("worker", wanted_by("cli", "worker", "otel")),
        ("server", wanted_by("server", "mcp", "otel")),
        ("database", PLPYTHON),
        ("database-local", [*PLPYTHON, "onnxruntime>=1.17", "tokenizers>=0.20"]),
        ("build", ["hatchling>=1.27"]),
    ],
)
def test_a_lock_has_each_package_that_is_asked_for_in_a_version_that_fits_with_hashes(
    name: str, wanted: list[str]
) -> None:
    packages = locked(name)
    assert all(hashes for _, hashes in packages.values())
    for requirement in map(Requirement, wanted):
        if requirement.marker is not None and not requirement.marker.evaluate({"python_version": "3.12"}):
            continue  # not for the Python of the images
        version, _ = packages[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"run make locks: {requirement} is not {version}"


def test_the_images_install_nothing_without_hashes() -> None:
    installs = re.findall(r"pip install (.*)", (ROOT / "docker" / "Dockerfile").read_text())
    assert len(installs) == 4
    assert all("--require-hashes" in install or "--no-deps /wheels" in install for install in installs)
