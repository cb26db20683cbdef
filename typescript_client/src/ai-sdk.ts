// The Vercel AI SDK: a middleware for wrapLanguageModel().

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Middleware,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";

import type { Memory } from "./memory.js";

/** Whose memory a model has. */
export interface AgentMemoryOptions {
  userId: string;
  threadId: string;
  agentId?: string;
  /** The most tokens of what is remembered (default: the policy's context.max_tokens). */
  maxTokens?: number;
}

/**
 * A middleware that remembers: before a call the model is given what is known about the user and what was said before
 * about the question, and the user's message and the model's answer are stored in the thread.
 *
 * The application passes the conversation of this thread as it always does; messages that are in it are not repeated.
 * Steps that call tools belong to one turn: its question is stored once, and the answer that ends it.
 */
export function agentMemory(memory: Memory, options: AgentMemoryOptions): LanguageModelV4Middleware {
  const { userId, threadId, agentId, maxTokens } = options;
  const store = async (role: string, content: string): Promise<void> => {
    if (content.trim() !== "") {
      await memory.addMessage({ userId, threadId, agentId, role, content });
    }
  };
  return {
    specificationVersion: "v4",
    async transformParams({ params }) {
      const question = questionOf(params);
      if (question === undefined) {
        return params;
      }
      const rows = await memory.getContext({ userId, threadId, agentId, query: question, maxTokens });
      const known = rows.filter(({ source }) => source !== "message").map(({ content }) => content);
      if (params.prompt.at(-1)?.role === "user") {
        await store("user", question);
      }
      return known.length === 0 ? params : { ...params, prompt: withSystem(params.prompt, known.join("\n\n")) };
    },
    async wrapGenerate({ doGenerate }) {
      const result = await doGenerate();
      if (!result.content.some(({ type }) => type === "tool-call")) {
        await store("assistant", result.content.map((part) => (part.type === "text" ? part.text : "")).join(""));
      }
      return result;
    },
    async wrapStream({ doStream }) {
      const result = await doStream();
      let answer = "";
      let callsTools = false;
      const stored = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        async transform(part, controller) {
          answer += part.type === "text-delta" ? part.delta : "";
          callsTools ||= part.type === "tool-call";
          if (part.type === "finish" && !callsTools) {
            await store("assistant", answer);
          }
          controller.enqueue(part);
        },
      });
      return { ...result, stream: result.stream.pipeThrough(stored) };
    },
  };
}

/** The text of the newest message of the user. */
function questionOf({ prompt }: LanguageModelV4CallOptions): string | undefined {
  const message = prompt.findLast(({ role }) => role === "user");
  return message?.role === "user"
    ? message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n").trim() || undefined
    : undefined;
}

/** The prompt with a further system message behind those at its beginning. */
function withSystem(prompt: LanguageModelV4Message[], content: string): LanguageModelV4Message[] {
  const place = prompt.findIndex(({ role }) => role !== "system");
  return [...prompt.slice(0, place), { role: "system", content }, ...prompt.slice(place)];
}
