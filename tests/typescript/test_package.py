"""The package as an application gets it: installed by npm into an empty folder, compiled by tsc, and run by node."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory

from tests.support.servers import ROOT

FOLDER = ROOT / "typescript_client"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```ts\n(.*?)```", README, re.DOTALL)
CLIENT = 'import { Memory } from "pg-agent-memory";\nconst memory = new Memory(process.env.DATABASE_URL);\n'
STRICT = ["--strict", "--target", "es2022", "--types", "node"]
MIDDLEWARE = """
import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { agentMemory } from "pg-agent-memory/ai-sdk";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const model = new MockLanguageModelV3({
  doGenerate: async () => ({
    content: [{ type: "text", text: "Avoid satay." }], usage, warnings: [],
    finishReason: { unified: "stop", raw: "stop" },
  }),
});
const middleware = agentMemory(memory, { userId: "ana", threadId: "t2" });
const prompt = "What should I avoid in Bangkok? Peanuts?";
await generateText({ model: wrapLanguageModel({ model, middleware }), prompt });
console.log(JSON.stringify(model.doGenerateCalls[0]?.prompt));
for (const { role, content } of await memory.getMessages({ userId: "ana", threadId: "t2" })) {
  const known: "user" | "assistant" | "tool" | "system" | "developer" = role;
  console.log(known, content.toUpperCase());
}
const { seq } = await memory.addMessage({ userId: "ana", threadId: "t3", role: "user", content: "Hi" });
await memory.deleteMessage({ userId: "ana", threadId: "t3", seq });
await memory.close();
"""
KNOWN = """
import type * as rows from "pg-agent-memory";

type Role = "user" | "assistant" | "tool" | "system" | "developer";
export const roles = (one: rows.GetMessagesRow, part: rows.GetContextRow): Role[] => [one.role, part.role];
export const texts = (stored: rows.AddMessageRow, part: rows.GetContextRow): string[] => [stored.content, part.content];
export const places = (stored: rows.AddMessageRow): number | string => stored.seq;
export const states = (job: rows.GetJobRow): "pending" | "running" | "completed" | "dead" => job.status;
export const isGone = (version: rows.GetMemoryHistoryRow): boolean => version.operation === "delete";
// @ts-expect-error: there is no such operation
export const isLost = (version: rows.GetMemoryHistoryRow): boolean => version.operation === "lose";
export const asked: rows.SearchArguments = { userId: "ana", query: "tea", mode: "hybrid", sources: ["memory"] };
// @ts-expect-error: there is no such mode
export const refused: rows.SearchArguments = { userId: "ana", query: "tea", mode: "fuzzy" };
"""
pytestmark = [
    pytest.mark.feature("F22"),
    pytest.mark.skipif(not (FOLDER / "dist" / "src" / "index.js").exists(), reason="no client: make typescript"),
    pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm"),
]


def ran(folder: Path, *command: str | Path, **environment: str) -> str:
    """What a command prints; shown in the test where it fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True,
        timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def as_commonjs(program: str) -> str:
    """A program without an await outside of functions, which CommonJS does not have."""
    imports, rest = re.fullmatch(r"((?:import [^;]*;\n|\n)*)(.*)", program, re.DOTALL).groups()  # type: ignore[union-attr]
    return f"{imports}async function main() {{\n{rest}\n}}\nvoid main();\n"


def moved_up(program: str) -> str:
    """A program whose imports come first."""
    imports = re.findall(r"^import [^;]*;\n", program, re.MULTILINE)
    return "".join(imports) + re.sub(r"^import [^;]*;\n", "", program, flags=re.MULTILINE)


def compiled(folder: Path, programs: Mapping[str, str], *options: str, **environment: str) -> None:
    """Compile programs as tsc does in a strict project; the options may leave out the declarations of packages."""
    for name, program in programs.items():
        (folder / name).write_text(program, encoding="utf-8")
    ran(folder, "npx", "tsc", *STRICT, *options, *programs, **environment)


@pytest.fixture(scope="module", params=[20, 22])
def node_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which a Node.js of this version comes first, from its package of npm."""
    folder = tmp_path_factory.mktemp(f"node{request.param}")
    ran(folder, "npm", "install", "--no-audit", "--no-fund", f"node@{request.param}")
    path = f"{folder / 'node_modules' / 'node' / 'bin'}:{os.environ['PATH']}"
    assert ran(folder, "node", "--version", PATH=path).startswith(f"v{request.param}.")
    return path


def variables(dsn: str) -> dict[str, str]:
    """The database as libpq's variables, which pg and psql read."""
    parts = psycopg.conninfo.conninfo_to_dict(dsn)
    names = {"PGHOST": "host", "PGPORT": "port", "PGUSER": "user", "PGDATABASE": "dbname"}
    return {variable: str(parts[name]) for variable, name in names.items()}


@pytest.mark.nightly
def test_strict_programs_are_compiled_and_run_as_es_modules_and_as_commonjs(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "node_modules" / "@types").mkdir(parents=True)
    (tmp_path / "node_modules" / "pg-agent-memory").symlink_to(FOLDER)
    for package in ("@types/node", "typescript", ".bin"):
        (tmp_path / "node_modules" / package).symlink_to(FOLDER / "node_modules" / package)
    program = BLOCKS[0]
    programs = {"first.mts": program, "first.cts": as_commonjs(program), "known.mts": KNOWN, "known.cts": KNOWN}
    compiled(tmp_path, programs, "--module", "node16")
    for kind in ("mjs", "cjs"):
        assert "allergic to peanuts" in ran(tmp_path, "node", f"first.{kind}", **variables(dsn))


def packed(folder: Path) -> str:
    """The package as a registry would have it, in an empty project of npm."""
    ran(folder, "npm", "init", "--yes")
    ran(FOLDER, "npm", "pack", "--ignore-scripts", "--pack-destination", folder)
    [file] = folder.glob("*.tgz")
    return f"./{file.name}"


def test_the_package_has_the_same_bytes_when_others_pack_it_elsewhere(tmp_path: Path) -> None:
    """With other times and rights of the files."""
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(FOLDER, elsewhere, copy_function=shutil.copyfile, ignore=shutil.ignore_patterns("node_modules"))
    other = ran(elsewhere, "npm", "pack", "--ignore-scripts", "--silent").split()[-1]
    assert (elsewhere / other).read_bytes() == (tmp_path / packed(tmp_path)).read_bytes()


@pytest.mark.nightly
@pytest.mark.parametrize("version", [6, 7])
def test_npm_installs_the_package_beside_the_ai_sdk(version: int, tmp_path: Path) -> None:
    install = ["npm", "install", "--dry-run", "--prefer-offline", "--no-audit", "--no-fund"]
    assert "added" in ran(tmp_path, *install, f"ai@{version}", packed(tmp_path))


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_version_6_of_the_ai_sdk_in_strict_programs_of_both_kinds(dsn: str, node_path: str, tmp_path: Path) -> None:
    wanted = ["ai@6", "typescript@5.9", "@types/node@20", "@types/json-schema", packed(tmp_path)]
    ran(tmp_path, "npm", "install", "--no-audit", "--no-fund", *wanted, PATH=node_path)
    program = moved_up(CLIENT + MIDDLEWARE)
    example = moved_up(CLIENT + next(block for block in BLOCKS if "wrapLanguageModel" in block))
    programs = {"sdk.mts": program, "sdk.cts": as_commonjs(program), "example.mts": example}
    for skips in ("true", "false"):
        compiled(tmp_path, programs, "--module", "node16", "--skipLibCheck", skips, PATH=node_path)
    with Memory(dsn) as memory:
        memory.add_memory("ana", "Is allergic to peanuts")
    for kind in ("mjs", "cjs"):
        printed = ran(tmp_path, "node", f"sdk.{kind}", **variables(dsn), PATH=node_path)
        assert "allergic to peanuts" in printed
        assert "assistant AVOID SATAY." in printed
    older = """
        import { Memory } from "pg-agent-memory";
        import { agentMemory } from "pg-agent-memory/ai-sdk";
        import { MemoryTools } from "pg-agent-memory/tools";
        export const person = { userId: "ana", threadId: "t" };
        export const middleware = agentMemory(new Memory(), person);
        export const tools = new MemoryTools(new Memory(), person);
    """
    options = ["--module", "commonjs", "--moduleResolution", "node10", "--esModuleInterop"]
    compiled(tmp_path, {"older.ts": older}, *options, PATH=node_path)


@pytest.fixture
def app_url(empty_dsn: str) -> Iterator[dict[str, str]]:
    """Where createdb makes the database of the README, which is dropped in the end."""
    if shutil.which("createdb") is None:
        pytest.skip("there is no createdb")
    yield variables(empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("drop database if exists app with (force)")


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_the_readme_from_an_empty_folder(app_url: dict[str, str], node_path: str, tmp_path: Path) -> None:
    clone, app = tmp_path / "clone", tmp_path / "app"
    shutil.copytree(FOLDER, clone / "typescript_client", ignore=shutil.ignore_patterns("dist", "node_modules"))
    (clone / "build").mkdir()
    shutil.copy(ROOT / "build" / "agent_memory.sql", clone / "build")
    app.mkdir()
    environment = {**app_url, "DATABASE_URL": "postgresql:///app", "PATH": node_path}
    install, worker = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    ran(app, "bash", "-ec", install.replace("CLONE", str(clone)), **environment)

    (app / "first.mjs").write_text(BLOCKS[0], encoding="utf-8")
    assert "allergic to peanuts" in ran(app, "node", "first.mjs", **environment)

    wanted = ["typescript", "@types/node@20", "ai", "openai", "@langchain/langgraph"]
    ran(app, "npm", "install", "--no-audit", "--no-fund", *wanted, **environment)
    programs = {f"program{place}.mts": moved_up(CLIENT + block) for place, block in enumerate(BLOCKS[1:])}
    options = ["--module", "nodenext", "--skipLibCheck"]
    compiled(app, {"first.mts": BLOCKS[0], **programs}, *options, **environment)
    [graph] = (name for name, program in programs.items() if "StateGraph" in program)
    stated = (app / graph).with_suffix(".mjs")
    stated.write_text(stated.read_text(encoding="utf-8") + "await memory.close();\n", encoding="utf-8")
    assert ran(app, "node", stated.name, **environment).split() == ["2"]

    [command] = re.findall(r"^agent-memory worker .*?(?=  )", worker, re.MULTILINE)
    environment["PATH"] = f"{Path(sys.executable).parent}:{node_path}"
    ran(app, "bash", "-ec", f"{command} --once", **environment)
