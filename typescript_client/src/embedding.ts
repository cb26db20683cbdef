// Embeds the query of a search or context where the server cannot call a model, over the HTTP API of OpenAI, which most
// providers speak. The database keeps the embedding, so the call that follows needs no more than its words.

import type { Caller } from "./caller.js";

interface Wanted {
  model: { name: string; provider: string; model: string; settings: Settings };
  text: string | null;
  serverEmbeds: boolean | null;
  isReadOnly: boolean;
}

interface Settings {
  base_url?: string;
  api_key_env?: string;
  dimensions?: number;
  timeout_seconds?: number;
}

/** Milliseconds for which a search waits for the embedding of its query, as the server itself would. */
const LONGEST_CALL = 10_000;
/** Milliseconds after which the server is asked again whether it embeds queries by itself. */
const KNOWN_FOR = 60_000;

export class QueryEmbedder {
  private probedAt = -Infinity;
  private serverEmbeds = false;

  constructor(
    private readonly caller: Caller,
    private readonly embeds: boolean,
  ) {}

  /** The arguments, with queryEmbedding where a read-only transaction cannot keep it. A failure is a NOTICE of search. */
  async withEmbedding<
    Args extends { userId: string; query?: string | null; queryEmbedding?: unknown; threadId?: string | null; agentId?: string | null },
  >(args: Args, isContext: boolean): Promise<Args> {
    const isProbed = Date.now() > this.probedAt + KNOWN_FOR;
    if (!this.embeds || (args?.queryEmbedding ?? null) !== null || (this.serverEmbeds && !isProbed)) {
      return args;
    }
    try {
      const { userId, query, threadId, agentId } = args;
      const [wanted] = await this.caller.call<Wanted[]>("query_to_embed", {
        userId, query, threadId, agentId, isContext, probe: isProbed,
      });
      if (wanted === undefined) {
        return args;
      }
      if (isProbed) {
        this.probedAt = Date.now();
        this.serverEmbeds = wanted.serverEmbeds ?? false;
      }
      if (this.serverEmbeds || wanted.text === null || !["openai", "azure"].includes(wanted.model.provider)) {
        return args;
      }
      const began = Date.now();
      const { embedding, tokens } = await embed(wanted.model, wanted.text);
      if (wanted.isReadOnly) {
        return { ...args, queryEmbedding: embedding };
      }
      await this.caller.call("keep_query_embedding", {
        userId, query: wanted.text, embeddingModel: wanted.model, embedding, agentId,
        calls: [{ tokens_in: tokens, tokens_out: 0, duration_ms: Date.now() - began, error: null }],
      });
    } catch {
      // The search that follows goes by words, and says so in a NOTICE.
    }
    return args;
  }
}

async function embed(model: Wanted["model"], text: string): Promise<{ embedding: number[]; tokens: number }> {
  const { base_url, api_key_env, dimensions, timeout_seconds } = model.settings;
  const key = process.env[api_key_env ?? "OPENAI_API_KEY"] ?? "none";
  const response = await fetch(`${(base_url ?? "https://api.openai.com/v1").replace(/\/+$/, "")}/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, "api-key": key },
    body: JSON.stringify({ model: model.model, input: text, ...(dimensions ? { dimensions } : {}) }),
    signal: AbortSignal.timeout(Math.min(LONGEST_CALL, (timeout_seconds ?? Infinity) * 1000)),
  });
  if (!response.ok) {
    throw new Error(`the embedding model answered with ${response.status}`);
  }
  const reply = (await response.json()) as { data: { embedding: number[] }[]; usage?: { prompt_tokens?: number } };
  return { embedding: reply.data[0]!.embedding, tokens: reply.usage?.prompt_tokens ?? 0 };
}
