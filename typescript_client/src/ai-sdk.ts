// The Vercel AI SDK, versions 6 and 7: a middleware for wrapLanguageModel(). Of the SDK's types it has only what it reads,
// which both versions share.

import { randomUUID } from "node:crypto";

import { AgentMemoryError } from "./errors.js";
import type { Memory } from "./memory.js";

/** Whose memory a model has. */
export interface AgentMemoryOptions {
  userId: string;
  threadId: string;
  agentId?: string;
  /** The most tokens of what is remembered (default: the policy's context.max_tokens). */
  maxTokens?: number;
  /**
   * Ask the model without memory, after a warning, where the database is out of reach or fails before, instead of throwing
   * (default false). A question that is not stored then is stored with the answer, if the database is back by that time.
   */
  emptyOnFailure?: boolean;
}

interface CallOptions {
  prompt: { role: string; content: unknown; providerOptions?: unknown }[];
}

/** What is known: what stays from question to question, and what belongs to this one. */
interface Known {
  lasting: string;
  asked: string;
}

/** Other providers ignore it, and cache by themselves. */
const CACHED = { anthropic: { cacheControl: { type: "ephemeral" } } };

interface Part {
  type: string;
  text?: string;
  delta?: string;
  providerExecuted?: boolean;
}

/** What wrapLanguageModel() takes as its middleware. */
export interface AgentMemoryMiddleware {
  readonly specificationVersion: "v3";
  transformParams<Params extends CallOptions>(options: { params: Params }): Promise<Params>;
  wrapGenerate<Result extends { content: { type: string }[] }>(options: {
    doGenerate: () => PromiseLike<Result>;
    params: CallOptions;
  }): Promise<Result>;
  wrapStream<Result extends { stream: ReadableStream }>(options: {
    doStream: () => PromiseLike<Result>;
    params: CallOptions;
  }): Promise<Result>;
}

/** A message of the user. Under its key it is stored once, also if the answer to the first attempt was lost. */
interface Question {
  message: { role: "user"; content: string; idempotency_key: string };
  isStored: boolean;
}

/**
 * A middleware that remembers: before a call the model is given what is known about the user and what was said before
 * about the question, and the user's message and the model's answer are stored in the thread.
 *
 * The application passes the conversation of this thread as it always does; messages that are in it are not repeated.
 * Steps that call tools belong to one turn: its question is stored once, and the answer that ends it. If the SDK tries a
 * call again, its question is stored already. If the answer cannot be stored, a warning says so, and the answer is returned.
 */
export function agentMemory(memory: Memory, options: AgentMemoryOptions): AgentMemoryMiddleware {
  const { userId, threadId, agentId, maxTokens, emptyOnFailure = false } = options;
  /** The questions that the model has not taken yet: if a call fails, the SDK asks the same question again. */
  const open = new Map<string, Question>();
  const save = (messages: object[]): Promise<unknown> => memory.addMessages({ userId, threadId, agentId, messages });

  /** What is known about a question, which is stored unless it is already. */
  async function known(text: string, question: Question | undefined): Promise<Known> {
    const rows = await memory.getContext({ userId, threadId, agentId, query: text, maxTokens });
    if (question?.isStored === false) {
      await save([question.message]);
      question.isStored = true;
    }
    const remembered = rows.filter(({ source }) => source !== "message");
    const of = (isAsked: boolean): string =>
      remembered
        .filter(({ metadata }) => ((metadata as { cache?: string }).cache === "volatile") === isAsked)
        .map(({ content }) => content)
        .join("\n\n");
    return { lasting: of(false), asked: of(true) };
  }

  /** The model has taken a call: what is to be stored of its question. */
  function taken(params: CallOptions): object[] {
    const text = questionOf(params);
    const question = open.get(text);
    open.delete(text);
    return question?.isStored === false ? [question.message] : [];
  }

  async function end(unsaved: object[], answer: string | undefined): Promise<void> {
    const messages = answer === undefined ? unsaved : [...unsaved, { role: "assistant", content: answer }];
    if (messages.length > 0) {
      await save(messages).catch((error: unknown) => warn("the model's answer is not stored", error));
    }
  }

  return {
    specificationVersion: "v3",
    async transformParams({ params }) {
      const text = questionOf(params);
      if (text === "") {
        return params;
      }
      if (params.prompt.at(-1)?.role === "user" && !open.has(text)) {
        open.set(text, { message: { role: "user", content: text, idempotency_key: randomUUID() }, isStored: false });
      }
      try {
        return { ...params, prompt: withKnown(params.prompt, await known(text, open.get(text))) };
      } catch (error) {
        if (!emptyOnFailure || !(error instanceof AgentMemoryError && error.isUnavailable)) {
          throw error;
        }
        warn("the model is asked without memory", error);
        return params;
      }
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      await end(taken(params), answerOf(result.content));
      return result;
    },
    async wrapStream({ doStream, params }) {
      const result = await doStream();
      const unsaved = taken(params);
      const parts: Part[] = [];
      const kept = new TransformStream<Part, Part>({
        async transform(part, controller) {
          if (part.type === "text-delta" || part.type === "tool-call") {
            parts.push(part.type === "text-delta" ? { type: "text", text: part.delta } : part);
          } else if (part.type === "finish") {
            await end(unsaved, answerOf(parts));
          }
          controller.enqueue(part);
        },
      });
      return { ...result, stream: result.stream.pipeThrough(kept) };
    },
  };
}

/**
 * The text that ends a turn, which is empty if the model says nothing; undefined where the turn goes on, because the
 * application's tools are called, or tools of the provider without a word. With a word, these belong to the answer.
 */
function answerOf(parts: Part[]): string | undefined {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const calls = parts.filter(({ type }) => type === "tool-call");
  const isOver = calls.every(({ providerExecuted }) => providerExecuted) && (text !== "" || calls.length === 0);
  return isOver ? text : undefined;
}

function warn(what: string, error: unknown): void {
  const { message, hint } = error as AgentMemoryError;
  process.emitWarning(`${what}: ${message}`, { type: "DegradedWarning", detail: hint ?? "" });
}

/** The text of the newest message of the user. */
function questionOf({ prompt }: CallOptions): string {
  const parts = (prompt.findLast(({ role }) => role === "user")?.content ?? []) as Part[];
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n").trim();
}

/**
 * The prompt with what is known: what stays behind the system messages at its beginning, with a mark up to which
 * Anthropic caches prompts, and what belongs to the question directly before it, so that the prompt before it stays.
 */
function withKnown(prompt: CallOptions["prompt"], { lasting, asked }: Known): CallOptions["prompt"] {
  const first = prompt.findIndex(({ role }) => role !== "system");
  const question = prompt.findLastIndex(({ role }) => role === "user");
  return [
    ...prompt.slice(0, first),
    ...(lasting === "" ? [] : [{ role: "system", content: lasting, providerOptions: CACHED }]),
    ...prompt.slice(first, question),
    ...(asked === "" ? [] : [{ role: "user", content: [{ type: "text", text: asked }] }]),
    ...prompt.slice(question),
  ];
}
