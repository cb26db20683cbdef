import assert from "node:assert/strict";
import { after, test } from "node:test";

import { generateText, simulateReadableStream, stepCountIs, streamText, tool, wrapLanguageModel, jsonSchema } from "ai";
import { MockLanguageModelV4 } from "ai/test";

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
