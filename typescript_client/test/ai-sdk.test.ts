import assert from "node:assert/strict";
import { after, test } from "node:test";

import {
  APICallError, generateText, jsonSchema, simulateReadableStream, stepCountIs, streamText, tool, wrapLanguageModel,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import pg from "pg";

import { agentMemory } from "../src/ai-sdk.js";
import { Memory } from "../src/index.js";

const memory = new Memory(process.env.AGENT_MEMORY_TEST_DSN!);
after(() => memory.close());

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const stop = { unified: "stop" as const, raw: "stop" };

test("the model is given what is known, and both sides of the turn are stored", async () => {
  const userId = `ai-sdk ${process.pid}`;
  await memory.addMemory({ userId, content: "Is allergic to peanuts" });
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({ content: [{ type: "text", text: "Avoid satay." }], finishReason: stop, usage, warnings: [] }),
  });
  const remembering = wrapLanguageModel({ model, middleware: agentMemory(memory, { userId, threadId: "t" }) });
  const { text } = await generateText({ model: remembering, system: "Be brief.", prompt: "What should I avoid in Bangkok?" });
  assert.equal(text, "Avoid satay.");
  const prompt = model.doGenerateCalls[0]!.prompt;
  assert.deepEqual(prompt.map(({ role }) => role), ["system", "system", "user"]);
  assert.match(String(prompt[1]!.content), /allergic to peanuts/);
  const stored = await memory.getMessages({ userId, threadId: "t" });
  assert.deepEqual(stored.map(({ role, content }) => [role, content]), [
    ["user", "What should I avoid in Bangkok?"],
    ["assistant", "Avoid satay."],
  ]);
});

test("what stays comes first, with a mark for caches, and what the question asks for directly before it", async () => {
  const userId = `ai-sdk layout ${process.pid}`;
  await memory.addMemory({ userId, content: "Is allergic to peanuts" });
  await memory.addMessage({ userId, threadId: "before", role: "user", content: "The boat Marabel lies in Genoa." });
  const model = new MockLanguageModelV4({ doGenerate: async () => answering("In Genoa.") });
  const remembering = wrapLanguageModel({ model, middleware: agentMemory(memory, { userId, threadId: "t" }) });
  await generateText({
    model: remembering,
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "Where does the boat Marabel lie?" },
    ],
  });
  const prompt = model.doGenerateCalls[0]!.prompt;
  assert.deepEqual(prompt.map(({ role }) => role), ["system", "user", "assistant", "user", "user"]);
  assert.deepEqual(prompt[0]!.providerOptions, { anthropic: { cacheControl: { type: "ephemeral" } } });
  assert.match(JSON.stringify(prompt[3]!.content), /Marabel lies in Genoa/);
  assert.match(JSON.stringify(prompt[4]!.content), /Where does the boat/);
});

test("a stream is stored when it ends, and comes through unchanged", async () => {
  const userId = `ai-sdk stream ${process.pid}`;
  const model = new MockLanguageModelV4({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: "text-start", id: "1" },
          { type: "text-delta", id: "1", delta: "Hello " },
          { type: "text-delta", id: "1", delta: "Ana" },
          { type: "text-end", id: "1" },
          { type: "finish", finishReason: stop, usage },
        ],
      }),
    }),
  });
  const remembering = wrapLanguageModel({ model, middleware: agentMemory(memory, { userId, threadId: "t" }) });
  const result = streamText({ model: remembering, prompt: "Hi" });
  assert.equal(await result.text, "Hello Ana");
  const stored = await memory.getMessages({ userId, threadId: "t" });
  assert.deepEqual(stored.map(({ content }) => content), ["Hi", "Hello Ana"]);
});

test("steps that call tools belong to one turn", async () => {
  const userId = `ai-sdk tools ${process.pid}`;
  let step = 0;
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      step += 1;
      return step === 1
        ? {
            content: [{ type: "tool-call", toolCallId: "1", toolName: "weather", input: "{}" }],
            finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [],
          }
        : { content: [{ type: "text", text: "It rains." }], finishReason: stop, usage, warnings: [] };
    },
  });
  const remembering = wrapLanguageModel({ model, middleware: agentMemory(memory, { userId, threadId: "t" }) });
  const weather = tool({ inputSchema: jsonSchema<object>({ type: "object" }), execute: async () => "rain" });
  await generateText({ model: remembering, prompt: "Weather?", tools: { weather }, stopWhen: stepCountIs(3) });
  const stored = await memory.getMessages({ userId, threadId: "t" });
  assert.deepEqual(stored.map(({ content }) => content), ["Weather?", "It rains."]);
});

const busy = (): APICallError =>
  new APICallError({
    message: "busy", url: "http://model", requestBodyValues: {}, statusCode: 429, isRetryable: true,
    responseHeaders: { "retry-after-ms": "1" },
  });
const said = async (userId: string): Promise<string[]> =>
  (await memory.getMessages({ userId, threadId: "t" })).map(({ role, content }) => `${role}: ${content}`);
const answering = (text: string) => ({ content: [{ type: "text" as const, text }], finishReason: stop, usage, warnings: [] });
const streaming = (text: string) => ({
  stream: simulateReadableStream({
    chunks: [
      { type: "text-start" as const, id: "1" },
      { type: "text-delta" as const, id: "1", delta: text },
      { type: "text-end" as const, id: "1" },
      { type: "finish" as const, finishReason: stop, usage },
    ],
  }),
});

/** The warnings of this package while something is done. */
async function warned(work: () => Promise<unknown>): Promise<string[]> {
  const warnings: string[] = [];
  const hear = (warning: Error): void => void (warning.name === "DegradedWarning" && warnings.push(warning.message));
  process.on("warning", hear);
  await work();
  await new Promise(setImmediate); // node tells of a warning in a later turn
  process.off("warning", hear);
  return warnings;
}

test("a call that the SDK tries again stores its question once, and a question asked again is stored again", async () => {
  const userId = `ai-sdk retries ${process.pid}`;
  const asked = { generate: 0, stream: 0 };
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      if ((asked.generate += 1) < 3) throw busy();
      return answering("Yes.");
    },
    doStream: async () => {
      if ((asked.stream += 1) < 3) throw busy();
      return streaming("Again yes.");
    },
  });
  const remembering = wrapLanguageModel({ model, middleware: agentMemory(memory, { userId, threadId: "t" }) });
  await generateText({ model: remembering, prompt: "Tea?" });
  assert.equal(asked.generate, 3);
  await streamText({ model: remembering, prompt: "Tea?" }).text;
  assert.equal(asked.stream, 3);
  assert.deepEqual(await said(userId), ["user: Tea?", "assistant: Yes.", "user: Tea?", "assistant: Again yes."]);
});

test("an answer for which the provider has executed tools is stored", async () => {
  const userId = `ai-sdk provider ${process.pid}`;
  const call = { type: "tool-call" as const, toolCallId: "1", toolName: "web_search", input: "{}", providerExecuted: true };
  const found = { type: "tool-result" as const, toolCallId: "1", toolName: "web_search", result: { rain: true } };
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({ ...answering(""), content: [call, found, { type: "text", text: "It rains." }] }),
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          call, found, { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "Still." },
          { type: "text-end", id: "1" }, { type: "finish", finishReason: stop, usage },
        ],
      }),
    }),
  });
  const remembering = wrapLanguageModel({ model, middleware: agentMemory(memory, { userId, threadId: "t" }) });
  const tools = { web_search: tool({ inputSchema: jsonSchema<object>({ type: "object" }) }) };
  await generateText({ model: remembering, prompt: "Weather?", tools });
  await streamText({ model: remembering, prompt: "And now?", tools }).text;
  assert.deepEqual(await said(userId), ["user: Weather?", "assistant: It rains.", "user: And now?", "assistant: Still."]);
});

test("an answer without a text is stored", async () => {
  const userId = `ai-sdk empty ${process.pid}`;
  const filtered = { unified: "content-filter" as const, raw: "content_filter" };
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({ content: [], finishReason: filtered, usage, warnings: [] }),
    doStream: async () => ({
      stream: simulateReadableStream({ chunks: [{ type: "finish", finishReason: filtered, usage }] }),
    }),
  });
  const remembering = wrapLanguageModel({ model, middleware: agentMemory(memory, { userId, threadId: "t" }) });
  const warnings = await warned(async () => {
    await generateText({ model: remembering, prompt: "Hm?" });
    for await (const _ of streamText({ model: remembering, prompt: "And?" }).fullStream); // its text is an error
  });
  assert.deepEqual(warnings, []);
  assert.deepEqual(await said(userId), ["user: Hm?", "assistant: ", "user: And?", "assistant: "]);
});

test("an answer that cannot be stored is returned, with a warning", async () => {
  for (const isStream of [false, true]) {
    const own = new Memory(process.env.AGENT_MEMORY_TEST_DSN!);
    const model = new MockLanguageModelV4({
      doGenerate: async () => own.close().then(() => answering("Paid for.")),
      doStream: async () => own.close().then(() => streaming("Paid for.")),
    });
    const middleware = agentMemory(own, { userId: `ai-sdk lost ${process.pid}`, threadId: "t" });
    const remembering = wrapLanguageModel({ model, middleware });
    const warnings = await warned(async () => {
      const { text } = await (isStream ? streamText : generateText)({ model: remembering, prompt: "Hi" });
      assert.equal(await text, "Paid for.");
    });
    assert.match(warnings.join(), /^the model's answer is not stored: [^,]+$/);
  }
});

test("where the database is down, a call fails before the model is asked, or goes on without memory", async () => {
  const down = new Memory("postgresql://127.0.0.1:1/none");
  const model = new MockLanguageModelV4({ doGenerate: async () => answering("Hello.") });
  const person = { userId: "ana", threadId: "t" };
  const strict = wrapLanguageModel({ model, middleware: agentMemory(down, person) });
  await assert.rejects(generateText({ model: strict, prompt: "Hi" }), { code: "08001" });
  assert.equal(model.doGenerateCalls.length, 0);
  const lenient = wrapLanguageModel({ model, middleware: agentMemory(down, { ...person, emptyOnFailure: true }) });
  const warnings = await warned(async () => {
    assert.equal((await generateText({ model: lenient, prompt: "Hi" })).text, "Hello.");
  });
  assert.match(warnings.join(), /^the model is asked without memory: .*the model's answer is not stored: /);
  const nobody = wrapLanguageModel({
    model, middleware: agentMemory(memory, { userId: "", threadId: "t", emptyOnFailure: true }),
  });
  await assert.rejects(generateText({ model: nobody, prompt: "Hi" }), { argument: "user_id" });
  await down.close();
});

test("a question that could not be stored is stored with the answer", async () => {
  const userId = `ai-sdk back ${process.pid}`;
  const pool = new pg.Pool({ connectionString: process.env.AGENT_MEMORY_TEST_DSN!, max: 1, connectionTimeoutMillis: 300 });
  const own = new Memory(pool);
  let held: pg.PoolClient | undefined = await pool.connect(); // no connection is left until the model answers
  const back = async (): Promise<void> => {
    held?.release();
    held = undefined;
  };
  const model = new MockLanguageModelV4({
    doGenerate: async () => back().then(() => answering("Hello.")),
    doStream: async () => back().then(() => streaming("Hello.")),
  });
  const middleware = agentMemory(own, { userId, threadId: "t", emptyOnFailure: true });
  const remembering = wrapLanguageModel({ model, middleware });
  const warnings = await warned(async () => {
    await generateText({ model: remembering, prompt: "Hi" });
    held = await pool.connect();
    await streamText({ model: remembering, prompt: "Still there?" }).text;
  });
  assert.match(warnings.join(), /^the model is asked without memory: [^,]+,the model is asked without memory: [^,]+$/);
  assert.deepEqual(await said(userId), ["user: Hi", "assistant: Hello.", "user: Still there?", "assistant: Hello."]);
  await pool.end();
});
