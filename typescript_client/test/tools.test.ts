import assert from "node:assert/strict";
import { after, test } from "node:test";

import { AgentMemoryError, Memory } from "../src/index.js";
import { executeTool, LISTED, MemoryTools, openaiTools, TOOLS } from "../src/tools.js";

const memory = new Memory(process.env.AGENT_MEMORY_TEST_DSN!, { onNotice: () => undefined });
after(() => memory.close());

let users = 0;
const tools = (options: object = {}): MemoryTools =>
  new MemoryTools(memory, { userId: `tools ${process.pid} ${(users += 1)}`, threadId: "today", ...options });

const chat = (name: string, args: object | string): object => ({
  id: "call_1", type: "function", function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
});

async function said(box: MemoryTools, name: string, args: object | string = {}): Promise<string> {
  const answer = await box.execute(chat(name, args));
  assert.deepEqual(Object.keys(answer), ["role", "tool_call_id", "content"]);
  assert.deepEqual([answer.role, answer.tool_call_id], ["tool", "call_1"]);
  return answer.content;
}

test("a model's calls are executed for one user", async () => {
  const box = tools();
  const added = await box.call("add_memory", { content: "Ana is allergic to peanuts.", importance: "0.9", tags: null });
  assert.equal(added.is_new, true);
  assert.equal((await box.call("add_memory", '{"content": "Ana is allergic to peanuts."}')).is_new, false);
  const { results, note } = await box.call("search", { query: "allergic", limit: 5 });
  assert.equal(results[0].id, added.memory_id);
  assert.deepEqual(Object.keys(results[0]), ["source", "id", "content", "score", "thread_id", "date"]);
  assert.match(note, /^Only words were compared/);
  assert.equal((await box.call("update_memory", { memory_id: added.memory_id, content: "Eats nuts again." })).version, 2);
  assert.equal((await box.call("list_memories")).memories[0].content, "Eats nuts again.");
  assert.deepEqual(await box.call("forget", { memory_id: added.memory_id }), { forgotten: true });
  assert.deepEqual(await tools().call("list_memories"), { memories: [], total_count: 0 });
});

test("conversations, documents and long texts", async () => {
  const box = tools();
  const messages = [{ role: "user", content: "I like tea." }, { role: "assistant", content: "Green tea?" }];
  assert.deepEqual(await box.call("add_messages", { messages }), { first_seq: 0, last_seq: 1 });
  const context = await box.call("get_context", {});
  assert.deepEqual(context.messages.map(({ content }: { content: string }) => content), ["I like tea.", "Green tea?"]);
  assert.ok(context.token_count > 0);
  const { threads, total_count } = await box.call("list_threads");
  assert.deepEqual([threads[0].thread_id, threads[0].message_count, total_count], ["today", 2, 1]);

  const text = Array.from({ length: 4000 }, (_, line) => `line ${line} of the log`).join("\n");
  const { memory_key, memory_ref } = await box.call("store_memory", { content: text, description: "A log" });
  assert.match(memory_ref, /^\[MemoryRef: .* - A log/);
  let read = "";
  for (let from: number | undefined = 0; from !== undefined; ) {
    const part: { content: string; next_from_token?: number } = await box.call("retrieve_memory", {
      memory_key, from_token: from,
    });
    read += part.content;
    from = part.next_from_token;
  }
  assert.equal(read, text);
  const lines = await box.call("retrieve_memory", { memory_key, from_line: 3990, max_lines: 2 });
  assert.deepEqual([lines.content.split("\n")[0], lines.next_from_line], ["line 3989 of the log", undefined]);
  const found = await box.call("search_memory", { query: "log" });
  assert.deepEqual([found.results[0].memory_key, found.results[0].description], [memory_key, "A log"]);

  const userId = `tools ${process.pid} ${users}`;
  await memory.addDocument({ userId, content: "Tea is a drink.", title: "Tea", docType: "conversation" });
  const listed = await box.call("list_documents", { doc_type: "conversations" });
  assert.deepEqual([listed.documents[0].title, listed.documents[0].beginning], ["Tea", "Tea is a drink."]);
  const searched = await box.call("search_knowledge_base", { query: "tea", search_type: "conversations" });
  assert.equal(searched.results[0].title, "Tea");
});

test("what a model can mend is an answer, and names the argument", async () => {
  const box = tools({ threadId: undefined });
  const takes = "Hint: search() takes: query, limit?, sources?, created_after?, created_before?, spaces? (? marks what may be left out).";
  for (const [name, args, expected] of [
    ["search", {}, `Error: query: is missing\n${takes}`],
    ["search", { query: "x", limit: "many" }, `Error: limit: input should be a valid integer\n${takes}`],
    ["search", { query: "x", created_after: "2026-01-01" }, `Error: created_after: input should be a time with time zone\n${takes}`],
    ["search", { query: "x", user_id: "bo" }, `Error: user_id: there is no such argument\nHint: user_id is fixed, and the tool works for it already. ${takes.slice(6)}`],
    ["search", "{", `Error: arguments: invalid JSON\n${takes}`],
    ["search", "[]", `Error: arguments: input should be an object\n${takes}`],
    ["forget", { memory_id: "x" }, "Error: memory_id: input should be a valid UUID"],
    ["add_messages", { messages: [{ role: "system", content: "x" }] }, "Error: messages.0.role: input should be 'user' or 'assistant'"],
    ["add_messages", { messages: [] }, "Error: thread_id: is missing, and no conversation is known to be going on"],
    ["list_memories", { limit: -1 }, "Error: limit: "],
    ["update_memory", { memory_id: "00000000-0000-4000-8000-000000000000", content: "x" }, "Error: "],
    ["forgive", {}, 'Error: there is no tool "forgive"\nHint: The tools are: search, add_memory'],
  ] as const) {
    const text = await said(box, name, args);
    assert.ok(text.startsWith(expected), `${name}: ${text}`);
  }
  const absent = await said(box, "update_memory", { memory_id: "00000000-0000-4000-8000-000000000000", content: "x" });
  assert.ok(absent.endsWith("Hint: search and list_memories show the ids of the memories that there are."), absent);
});

test("errors of the application are thrown", async () => {
  await assert.rejects(tools().execute({ name: "search" }), /is no tool call/);
  assert.throws(() => new MemoryTools(memory, { userId: " " }), AgentMemoryError);
  assert.throws(() => tools({ names: ["forgive"] }), /there is no tool "forgive"/);
  const away = new Memory("postgresql://127.0.0.1:1/x");
  await assert.rejects(new MemoryTools(away, { userId: "ana" }).execute(chat("list_memories", {})), /ECONNREFUSED/);
  await away.close();
});

test("the Responses API and single calls", async () => {
  const box = tools({ names: ["forget", "search"] });
  assert.deepEqual([box.has("search"), box.has("add_memory")], [true, false]);
  assert.deepEqual(box.definitions(), openaiTools(["forget", "search"]));
  const call = { type: "function_call", call_id: "call_2", name: "search", arguments: '{"query": "tea"}' };
  const answer = await box.execute(call);
  assert.deepEqual([answer.type, answer.call_id], ["function_call_output", "call_2"]);
  assert.deepEqual(JSON.parse(answer.output).results, []);
  const added = await executeTool(memory, { userId: "single" }, "add_memory", { content: "Likes tea" });
  assert.equal((await executeTool(memory, { userId: "single" }, "search", { query: "tea" })).results[0].id, added.memory_id);
  assert.deepEqual(Object.keys(TOOLS).filter((name) => LISTED.includes(name as never)), LISTED);
});
