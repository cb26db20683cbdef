import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";

import pg from "pg";

import { AgentMemoryError, Memory, type Notice } from "../src/index.js";

const dsn = process.env.AGENT_MEMORY_TEST_DSN!;
const memory = new Memory(dsn);
after(() => memory.close());

let users = 0;
const user = (): string => `typescript ${process.pid} ${(users += 1)}`;

test("a conversation is stored and comes back with its types", async () => {
  const userId = user();
  const stored = await memory.addMessage({
    userId, threadId: "t", role: "user", content: "I live in Łódź 🏙", metadata: { tags: ["a"], n: 1 },
    createdAt: new Date("2026-01-02T03:04:05.678Z"),
  });
  assert.deepEqual({ ...stored }, { seq: 0, content: "I live in Łódź 🏙", tokenCount: stored.tokenCount, memoryRef: null });
  const [message] = await memory.getMessages({ userId, threadId: "t" });
  assert.equal(message!.content, "I live in Łódź 🏙");
  assert.deepEqual(message!.metadata, { tags: ["a"], n: 1 });
  assert.deepEqual(message!.createdAt, new Date("2026-01-02T03:04:05.678Z"));
});

test("memories are added, found, changed and deleted", async () => {
  const userId = user();
  const { memoryId, inserted } = await memory.addMemory({ userId, content: "Likes green tea", tags: ["drinks", 'a "b"'] });
  assert.equal(inserted, true);
  const rows = await memory.addMemories({ userId, memories: [{ content: "Likes green tea" }, { content: "Has a dog" }] });
  assert.deepEqual(rows.map((row) => row.inserted), [false, true]);
  const found = await memory.search({ userId, query: "green tea", sources: ["memory"] });
  assert.equal(found[0]!.id, memoryId);
  assert.equal(typeof found[0]!.score, "number");
  assert.equal(await memory.updateMemory({ userId, memoryId, content: "Likes black tea" }), 2);
  const kept = await memory.getMemory({ userId, memoryId });
  assert.deepEqual(kept!.tags, ["drinks", 'a "b"']);
  await memory.deleteMemory({ userId, memoryId });
  await assert.rejects(memory.getMemory({ userId, memoryId }), { code: "P0002" });
  assert.deepEqual((await memory.listMemories({ userId })).map(({ content }) => content), ["Has a dog"]);
});

test("calls on a connection belong to its transaction", async () => {
  const userId = user();
  const pool = new pg.Pool({ connectionString: dsn });
  const client = await pool.connect();
  try {
    const inside = new Memory(client);
    await client.query("begin");
    await inside.addMessage({ userId, threadId: "t", role: "user", content: "Hello" });
    assert.equal((await inside.getMessages({ userId, threadId: "t" })).length, 1);
    await client.query("rollback");
    await inside.close();
    assert.deepEqual(await memory.getMessages({ userId, threadId: "t" }), []);
    await client.query("select 1"); // close() has ended nothing that it has not opened
  } finally {
    client.release();
    await pool.end();
  }
});

test("an error names the argument, with a code and a hint", async () => {
  await assert.rejects(
    memory.addMessage({ userId: "", threadId: "t", role: "user", content: "x" }),
    (error: AgentMemoryError) =>
      error instanceof AgentMemoryError && error.code === "22023" && error.argument === "user_id" && error.hint !== undefined,
  );
  await assert.rejects(
    memory.addMessage({ userId: "a", threadId: "t", role: "user", content: "x", colour: "red" } as never),
    /addMessage has no argument colour; it has userId, threadId/,
  );
});

test("values of a wrong type are refused before they are sent, by name", async () => {
  const unreachable = new Memory("postgresql://127.0.0.1:1/none"); // what was sent would end with 08001
  const message = { userId: "a", threadId: "t", role: "user", content: "x" };
  const add = (changed: object): (() => Promise<unknown>) => () => unreachable.addMessage({ ...message, ...changed } as never);
  const cases: [string, RegExp, () => Promise<unknown>][] = [
    ["content", /^content: must be a string, not an array$/, add({ content: [{ type: "text", text: "x" }] })],
    ["content", /not object$/, add({ content: { text: "x" } })],
    ["content", /not 7$/, add({ content: 7 })],
    ["content", /^content: is missing$/, add({ content: undefined })],
    ["user_id", /^user_id: is missing$/, add({ userId: undefined })],
    ["user_id", /^user_id: is missing$/, () => unreachable.addMessage(undefined as never)],
    ["user_id", /^user_id: is missing$/, () => unreachable.search(undefined as never)],
    ["created_at", /must be a valid Date or a string, not this Date$/, add({ createdAt: new Date("never") })],
    ["metadata", /must be a value of JSON, not object$/, add({ metadata: { n: 1n } })],
    ["tags", /^tags: must be an array, not string$/, () => unreachable.addMemory({ userId: "a", content: "x", tags: "t" as never })],
    ["tags", /^tags\[1\]: must be a string, not 2$/, () => unreachable.addMemory({ userId: "a", content: "x", tags: ["t", 2 as never] })],
    ["confidence", /must be a number, not NaN$/, () => unreachable.addMemory({ userId: "a", content: "x", confidence: NaN })],
    ["top_k", /must be a whole number, not 1.5$/, () => unreachable.search({ userId: "a", query: "x", topK: 1.5 })],
    ["recall", /must be a boolean, not string$/, () => unreachable.getContext({ userId: "a", threadId: "t", recall: "no" as never })],
    ["query_embedding", /must be an array of numbers/, () => unreachable.search({ userId: "a", query: "x", queryEmbedding: [1, NaN] })],
    ["seq", /must be a whole number, a bigint or its digits/, () => unreachable.deleteMessage({ userId: "a", threadId: "t", seq: 0.5 })],
    ["blobs", /^blobs\[0\]: must be a Uint8Array, not string$/, () =>
      unreachable.putCheckpoint({
        userId: "a", threadId: "t", checkpointId: "c", checkpoint: {}, metadata: {},
        channels: ["c"], versions: ["1"], types: ["json"], blobs: ["x" as never],
      })],
  ];
  for (const [argument, message, call] of cases) {
    await assert.rejects(call(), (error: AgentMemoryError) => {
      assert.ok(error instanceof AgentMemoryError, String(error));
      assert.match(error.message, message);
      assert.deepEqual([error.code, error.argument, typeof error.hint], ["22023", argument, "string"]);
      return true;
    });
  }
  await unreachable.close();
});

test("undefined for an optional argument is left out, and an unreadable value names its argument", async () => {
  const userId = user();
  await memory.addMessage({ userId, threadId: "t", role: "user", content: "x", agentId: undefined, metadata: undefined });
  const [message] = await memory.getMessages({ userId, threadId: "t", recentK: undefined });
  assert.deepEqual([message!.agentId, message!.metadata], ["default", {}]);
  await assert.rejects(memory.getMemory({ userId, memoryId: "none" }), { argument: "memory_id", code: "22P02" });
  await assert.rejects(memory.addMemory({ userId, content: "x", validFrom: "gestern" }), { argument: "valid_from" });
});

test("where there is no connection or no schema, an error says what helps", async () => {
  const admin = new pg.Pool({ connectionString: dsn });
  const other = `bare_${process.pid}`;
  await admin.query(`create database ${other}`);
  const there = new URL(dsn);
  const named = (database: string, user = there.username): string => {
    const url = new URL(dsn);
    Object.assign(url, { pathname: `/${database}`, username: user });
    return url.href;
  };
  const closed = new Memory(dsn);
  await closed.close();
  const ended = new pg.Client({ connectionString: dsn });
  await ended.connect();
  await ended.end();
  const cases: [string, Memory, string, RegExp, RegExp][] = [
    ["refused", new Memory("postgresql://127.0.0.1:1/none"), "08001", /ECONNREFUSED 127.0.0.1:1/, /Start the server/],
    ["two addresses", new Memory("postgresql://localhost:1/none"), "08001", /ECONNREFUSED/, /Start the server/],
    ["no socket", new Memory("postgresql:///none?host=/nowhere"), "08001", /ENOENT/, /Start the server/],
    ["no host", new Memory("postgresql://no.such.host.invalid/none"), "08001", /no\.such\.host/, /no such host/],
    ["no database", new Memory(named("no_such_database")), "3D000", /does not exist/, /createdb/],
    ["no schema", new Memory(named(other)), "3F000", /no agent_memory/, /agent_memory\.sql/],
    ["no role", new Memory(named(there.pathname.slice(1), "no_such_role")), "28000", /no_such_role/, /role/],
    ["closed", closed, "08003", /after calling end/, /make a new Memory/],
    ["ended", new Memory(ended), "08006", /not queryable/, /call again/],
  ];
  for (const [what, from, code, message, hint] of cases) {
    for (const call of [() => from.getThread({ userId: "a", threadId: "t" }), () => from.heard((inside) => inside.version())]) {
      await assert.rejects(call(), (error: AgentMemoryError) => {
        assert.ok(error instanceof AgentMemoryError, `${what}: ${error}`);
        assert.deepEqual([what, error.code], [what, code]);
        assert.match(error.message, message);
        assert.match(error.hint!, hint);
        assert.equal(error.isUnavailable, code !== "3F000");
        return true;
      });
    }
  }
  await Promise.all(cases.map(([, from]) => from.close().catch(() => undefined)));
  await admin.query(`drop database ${other}`);
  await admin.end();
});

test("what cannot be a connection is refused, and a password is not repeated", async () => {
  assert.throws(() => new Memory({ host: "localhost" } as never), { name: "AgentMemoryError", argument: "connection" });
  const unreadable = new Memory("postgresql://ana:very secret:pass@[/app");
  await assert.rejects(unreadable.version(), (error: AgentMemoryError) => {
    assert.equal(error.code, "08001");
    assert.doesNotMatch(JSON.stringify(error) + String(error.stack) + String(error.cause), /secret/);
    return true;
  });
});

test("a pool of another copy of pg is a pool", async () => {
  const load = createRequire(import.meta.url);
  const loaded = Object.keys(load.cache).filter((name) => name.includes("node_modules"));
  loaded.forEach((name) => delete load.cache[name]);
  const other: typeof pg = load("pg");
  const pool = new other.Pool({ connectionString: dsn });
  assert.equal(pool instanceof pg.Pool, false);
  const client = new Memory(pool, { onNotice: () => undefined });
  assert.equal(typeof (await client.heard((inside) => inside.version())).result, "string");
  await assert.rejects(client.getThread({ userId: "", threadId: "t" }), { name: "AgentMemoryError", argument: "user_id" });
  await client.close();
  await pool.end();
});

test("a large number comes as a string, and goes back as one", async () => {
  const userId = user();
  const { seq } = await memory.addMessage({ userId, threadId: "t", role: "user", content: "x" });
  const pool = new pg.Pool({ connectionString: dsn });
  await pool.query("update memory.threads set next_seq = 9007199254740995 where user_id = $1", [userId]);
  await pool.end();
  const next = await memory.addMessage({ userId, threadId: "t", role: "user", content: "y" });
  assert.deepEqual([seq, next.seq], [0, "9007199254740995"]);
  assert.equal((await memory.getMessages({ userId, threadId: "t", afterSeq: next.seq })).length, 0);
  assert.equal(await memory.deleteMessage({ userId, threadId: "t", seq: next.seq }), true);
});

test("administration is on memory.admin", async () => {
  const policy = await memory.admin.setPolicy({ settings: { summary: { window_size: 20 } }, userId: user() });
  assert.equal(policy.summary.window_size, 20);
  assert.equal(typeof (await memory.version()), "string");
  assert.ok(Array.isArray(await memory.admin.doctor()));
  assert.equal("setPolicy" in memory, false);
  assert.equal("claimJobs" in memory || "claimJobs" in memory.admin, false);
});

test("a query is embedded here where the server cannot, and a failure is a notice", async (context) => {
  const extensions = new pg.Pool({ connectionString: dsn });
  const { rowCount } = await extensions.query("select from pg_extension where extname = 'plpython3u'");
  await extensions.end();
  if (rowCount === 1) {
    context.skip("the server embeds by itself");
    return;
  }
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data: [{ embedding: [1, 0, 0] }], usage: { prompt_tokens: 2 } }));
    request.resume();
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  const pool = new pg.Pool({ connectionString: dsn, max: 1 });
  const notices: Notice[] = [];
  const client = new Memory(pool, { onNotice: (notice) => notices.push(notice) });
  const userId = user();
  try {
    await client.admin.registerModel({
      name: "typescript", kind: "embedding", provider: "openai", model: "e",
      settings: { base_url: `http://127.0.0.1:${port}/v1`, dimensions: 3, api_key_env: "OPENAI_API_KEY" },
    });
    await client.admin.activateModel({ name: "typescript" });
    await client.addMemory({ userId, content: "Likes tea" });
    await client.search({ userId, query: "drinks" });
    const [{ kept }] = (await pool.query("select count(*)::int as kept from memory.query_embeddings")).rows;
    assert.ok(asked >= 1 && kept >= 1, `asked ${asked}, kept ${kept}`);
    server.close();
    server.closeAllConnections();
    assert.equal((await client.search({ userId, query: "tea, another time" })).length, 1);
    assert.ok(notices.every(({ code }) => code?.startsWith("01AM")) && notices.length > 0, JSON.stringify(notices));
  } finally {
    await client.admin.deactivateModel({ name: "typescript" });
    await pool.end();
    server.close();
  }
});
