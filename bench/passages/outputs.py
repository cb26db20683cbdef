"""Outputs of commands as programs write them, of about 3,000 tokens, with facts deep inside."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.passages.facts import Fact, facts, made_fact

BYTES = 12_000
OUTPUTS_OF_KIND = 4
WORDS = [
    "ledger", "invoice", "parcel", "cursor", "harbour", "lantern", "maple", "orbit", "quartz", "ripple", "saddle",
    "timber", "velvet", "walnut", "zephyr", "anchor", "basalt", "copper", "dahlia", "ember", "falcon", "garnet",
    "hazel", "indigo", "jasper", "kestrel", "lagoon", "meadow", "nectar", "onyx", "pepper", "raven",
]  # fmt: skip
PROJECTS = ("checkout service", "reporting app", "mobile backend", "warehouse tool")


@dataclass(frozen=True)
class Output:
    """What a command wrote, and the facts that stand in it."""

    request: str
    """What the user asked for."""
    command: str
    exit_status: int
    content: str
    facts: Sequence[Fact]


def outputs(seed: int = 1) -> list[Output]:
    """Forty outputs of ten kinds in a random order; the same for the same seed."""
    rng = random.Random(seed)
    made = []
    known = facts()
    for kind, (request, command, filler) in LOGS.items():
        for number, project in enumerate(PROJECTS):
            inside = known[kind][number::OUTPUTS_OF_KIND]
            content = _log(rng, filler, inside)
            if kind == "page":
                content = f"<!doctype html>\n<html><head><title>Docs of {project}</title></head>\n<body>\n{content}"
            status = int(any(sign in content for sign in ("ERROR", "npm error", "Error 1", "FAILED")))
            made.append(Output(request.format(project), command.format(number + 1), status, content, inside))
    for number, project in enumerate(PROJECTS):
        made += [_customers(rng, number, project), _sales(rng, number, project)]
    rng.shuffle(made)
    return made


def _log(rng: random.Random, filler: Callable[[random.Random], str], inside: Sequence[Fact]) -> str:
    """Lines of a filler up to the size, with each fact somewhere behind the first and before the last fifth."""
    lines: list[str] = []
    while sum(map(len, lines)) + len(lines) < BYTES:
        lines.append(filler(rng))
    for fact in inside:
        lines.insert(rng.randrange(len(lines) // 5, len(lines) * 4 // 5), fact.line)
    return "\n".join(lines) + "\n"


def _version(rng: random.Random) -> str:
    return f"{rng.randrange(12)}.{rng.randrange(30)}.{rng.randrange(20)}"


def _package(rng: random.Random) -> str:
    return f"{rng.choice(WORDS)}-{rng.choice(WORDS)}"


def _pip(rng: random.Random) -> str:
    name, version = _package(rng), _version(rng)
    wheel = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    size = f"{rng.randrange(8, 900)} kB"
    return rng.choice((
        f"Collecting {name}>={version} (from -r requirements.txt (line {rng.randrange(90)}))",
        f"  Downloading {wheel} ({size})",
        f"  Using cached {wheel} ({size})",
        f"Requirement already satisfied: {name} in ./.venv/lib/python3.12/site-packages ({version})",
        f"  Preparing metadata (pyproject.toml): finished with status 'done' for {name}",
        f"  Building wheel for {name} (pyproject.toml): finished with status 'done'",
        f"    Found existing installation: {name} {version}",
    ))  # fmt: skip


def _npm(rng: random.Random) -> str:
    name, version = _package(rng), _version(rng)
    return rng.choice((
        f"npm http fetch GET 200 https://registry.example.com/{name} {rng.randrange(900)}ms (cache miss)",
        f"npm warn deprecated {name}@{version}: this version is no longer supported, please upgrade",
        f"npm info run {name}@{version} postinstall node_modules/{name} node scripts/build.js",
        f"npm verbose reify moves node_modules/{name} to node_modules/.{name}-{rng.randrange(9999)}",
        f"npm warn ERESOLVE overriding peer dependency {name}@{version}",
        f"added {name} {version}, {rng.randrange(5)} packages are looking for funding",
    ))  # fmt: skip


def _make(rng: random.Random) -> str:
    folder, name = rng.choice(WORDS), rng.choice(WORDS)
    return rng.choice((
        f"gcc -O2 -g -Wall -Wextra -Iinclude -c src/{folder}/{name}.c -o build/{name}.o",
        f"  CC      build/{folder}/{name}.o",
        f"src/{folder}/{name}.c:{rng.randrange(900)}:9: warning: unused variable '{rng.choice(WORDS)}'",
        f"make[2]: Entering directory '/srv/build/{folder}'",
        f"make[2]: Leaving directory '/srv/build/{folder}'",
        f"checking for {name}.h... yes",
        f"ar rcs build/lib{folder}.a build/{name}.o",
        f"  LD      build/test_{name}",
    ))  # fmt: skip


def _server(rng: random.Random) -> str:
    stamp = f"12:{rng.randrange(60):02}:{rng.randrange(60):02}.{rng.randrange(1000):03}"
    part = rng.choice(("http", "payments", "scheduler", "mailer", "search", "auth", "gc", "deploy", "ratelimit"))
    name = rng.choice(WORDS)
    return f"{stamp} {rng.choice(('INFO ', 'DEBUG', 'INFO ', 'WARN '))} {part:<12} " + rng.choice((
        f"GET /{name}/{rng.randrange(9999)} 200 in {rng.randrange(300)} ms",
        f"job {name}-{rng.randrange(99)} done in {rng.randrange(90)} s, {rng.randrange(500)} rows",
        f"tenant {name} has {rng.randrange(40)} open connections",
        f"retry {rng.randrange(4)} of the request to {name}.internal",
        f"cache {name} refreshed, {rng.randrange(9999)} entries, hit rate {rng.randrange(100)} %",
        f"order {rng.randrange(60000)} moved to state {rng.choice(('paid', 'packed', 'shipped'))}",
    ))  # fmt: skip


def _diff(rng: random.Random) -> str:
    name, other = rng.choice(WORDS), rng.choice(WORDS)
    start = rng.randrange(400)
    return rng.choice((
        f"diff --git a/src/{name}/{other}.py b/src/{name}/{other}.py\n--- a/src/{name}/{other}.py\n"
        f"+++ b/src/{name}/{other}.py\n@@ -{start},7 +{start},9 @@ def load_{name}(self, path):",
        f"     self.{name} = {other}_of(path)",
        f"-    return {name}({other}, {rng.randrange(99)})",
        f"+    return {name}({other}=settings.{other}, limit={rng.randrange(99)})",
        f"+    log.debug('loaded {name} from %s', {other})",
        f"-    assert {name} is not None",
        f"     for {name} in self.{other}s:",
    ))  # fmt: skip


def _trace(rng: random.Random) -> str:
    name, other = rng.choice(WORDS), rng.choice(WORDS)
    return rng.choice((
        f"  File \"/srv/app/{name}/{other}.py\", line {rng.randrange(900)}, in {rng.choice(WORDS)}_{other}\n"
        f"    return self.{name}.{other}(*args, **kwargs)",
        f"tests/test_{name}.py::test_{other} PASSED  [{rng.randrange(100):3} %]",
        f"tests/test_{name}.py::test_{other}_is_empty PASSED  [{rng.randrange(100):3} %]",
        f"    at org.example.{name}.{other.title()}.call({other.title()}.java:{rng.randrange(700)})",
        "During handling of the above exception, another exception occurred:",
        f"ValueError: {name} must not be {other}",
    ))  # fmt: skip


def _page(rng: random.Random) -> str:
    name, other = rng.choice(WORDS), rng.choice(WORDS)
    return rng.choice((
        f"<h2 id=\"{name}\">{name.title()} and {other}</h2>",
        f"<p>Each {name} has a {other}; see <a href=\"/docs/{name}\">the chapter about {name}s</a>.</p>",
        f"<li class=\"nav-item\"><a href=\"/docs/{name}/{other}\">{name.title()} {other}</a></li>",
        f"<pre><code>client.{name}.create(\"{other}\", limit={rng.randrange(99)})</code></pre>",
        f"<tr><td>{name}</td><td>{other}</td><td>{rng.randrange(999)}</td></tr>",
    ))  # fmt: skip


def _docker(rng: random.Random) -> str:
    name, other = rng.choice(WORDS), rng.choice(WORDS)
    return rng.choice((
        f"#{rng.randrange(20)} {rng.random() * 60:.2f} Get:{rng.randrange(90)} bookworm/main "
        f"lib{name}{rng.randrange(9)} [{rng.randrange(900)} kB]",
        f"#{rng.randrange(20)} CACHED [{other} {rng.randrange(9)}/9] COPY {name}/ /app/{name}/",
        f"  Normal   Created  {rng.randrange(59)}s  kubelet  Created container {name}",
        f"  # module.{name}.aws_subnet.{other} will be updated in-place",
        f"      ~ tags = {{ \"{name}\" = \"{other}\" -> \"{rng.choice(WORDS)}\" }}",
        f"    Mounts:  /var/run/{name} from {other}-token (ro)",
        f" ---> Running in {rng.randrange(16**12):012x}",
    ))  # fmt: skip


LOGS = {
    "pip": ("Install the requirements of the {}.", "pip install -r requirements-{}.txt", _pip),
    "npm": ("Install the frontend of the {}.", "npm install --prefix web{}", _npm),
    "make": ("Build the native part of the {}.", "make -C native{} all check", _make),
    "server": ("Show me the log of the {}.", "journalctl -u service{} --since 12:00", _server),
    "diff": ("What changed in the {} since the release?", "git diff release-{} HEAD", _diff),
    "trace": ("Run the tests of the {}.", "pytest -x suite{}", _trace),
    "page": ("Read the vendor's page for the {}.", "curl -s https://docs.example.com/guide{}", _page),
    "docker": ("Deploy the {} to staging.", "./deploy.sh staging{}", _docker),
}

FIRST = [
    "Ines", "Jonas", "Mei", "Tariq", "Lucia", "Pavel", "Amara", "Hugo", "Noor", "Stellan", "Ayumi", "Rui", "Greta",
    "Kofi", "Leila", "Bruno", "Signe", "Otis",
]  # fmt: skip
LAST = [
    "Okafor", "Lindqvist", "Moreau", "Tanaka", "Petrov", "Alvarez", "Haddad", "Jensen", "Rossi", "Novak", "Costa",
    "Weber", "Singh", "Duarte",
]  # fmt: skip
CITIES = ["Lyon", "Porto", "Turin", "Bergen", "Gdansk", "Leeds", "Malaga", "Ghent", "Graz", "Tampere", "Cork", "Basel"]


def _customers(rng: random.Random, number: int, project: str) -> Output:
    """A reply of an API."""
    names = rng.sample([f"{first} {last}" for first in FIRST for last in LAST], 44)
    rows = [
        {
            "id": rng.randrange(10_000, 99_999), "name": name, "email": f"{name.split()[0].lower()}{i}@example.org",
            "plan": rng.choice(("basic", "team", "enterprise")), "seats": rng.randrange(2, 400),
            "address": {"city": rng.choice(CITIES), "postcode": f"{rng.randrange(10_000, 99_999)}"},
            "renews_on": f"2027-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}", "cents": rng.randrange(99_999),
        }
        for i, name in enumerate(names)
    ]  # fmt: skip
    ask: tuple[Callable[[dict[str, Any]], tuple[str, str]], ...] = (
        lambda row: (f"What is the postcode of {row['name']}?", f'"postcode": "{row["address"]["postcode"]}"'),
        lambda row: (f"When does the contract of {row['name']} renew?", f'"renews_on": "{row["renews_on"]}"'),
        lambda row: (f"How many seats does {row['name']} have?", f'"seats": {row["seats"]},'),
    )
    known = [
        made_fact(*ask[i % 3](rows[place])) for i, place in zip(range(number, number + 3), (11, 19, 26), strict=True)
    ]
    content = json.dumps({"total": len(rows), "items": rows}, indent=2)
    command = f"curl -s https://api.example.com/v{number + 1}/customers"
    return Output(f"Get the customers of the {project}.", command, 0, content, known[: 2 + number % 2])


def _sales(rng: random.Random, number: int, project: str) -> Output:
    """A table."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    columns = ("order_no", "product", "city", "units", "unit_price", "discount_percent", "shipped_on")
    writer.writerow(columns)
    rows = [
        (
            10_000 * (number + 1) + 7 * i, f"{rng.choice(WORDS)} {rng.choice(('lamp', 'shelf', 'mug', 'chair'))}",
            rng.choice(CITIES), rng.randrange(1, 60), f"{rng.random() * 300:.2f}", rng.randrange(0, 40),
            f"2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
        )
        for i in range(220)
    ]  # fmt: skip
    writer.writerows(rows)
    known = []
    for place, question in ((63, "When was order {} shipped?"), (118, "How much discount did order {} get?"),
                            (171, "What was sold with order {}?"))[: 2 + number % 2]:  # fmt: skip
        known.append(made_fact(question.format(rows[place][0]), ",".join(map(str, rows[place][1:]))))
    return Output(f"Export the orders of the {project}.", f"./export orders{number + 1}", 0, buffer.getvalue(), known)
