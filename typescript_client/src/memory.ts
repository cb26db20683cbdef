import pg from "pg";

import { Caller, isPool, type Queryable } from "./caller.js";
import { QueryEmbedder } from "./embedding.js";
import { AgentMemoryError, translated } from "./errors.js";
import {
  AdminFunctions,
  Functions,
  type FunctionName,
  type GetContextArguments,
  type GetContextRow,
  type RenderMemoriesArguments,
  type SearchArguments,
  type SearchRow,
} from "./functions.js";

/** Options of a client. */
export interface MemoryOptions {
  /** Whether queries are embedded here where the server cannot call a model (default true). */
  embedQueries?: boolean;
  /** The schema of the installation (default memory). */
  schema?: string;
  /** Hears each NOTICE of the database, such as a search without embeddings; by default they are Node's warnings. */
  onNotice?: (notice: Notice) => void;
}

/** A NOTICE of the database. */
export interface Notice {
  message: string;
  code: string | undefined;
  hint: string | undefined;
}

function warn(notice: Notice): void {
  process.emitWarning(notice.message, { type: "DegradedWarning", code: notice.code ?? "", detail: notice.hint ?? "" });
}

/** Milliseconds for which a call waits for a connection of a pool that this package opens. */
const CONNECTING = 30_000;

/** What administrators use. */
export class Admin extends AdminFunctions {
  constructor(private readonly caller: Caller) {
    super();
  }

  protected override call<Result>(name: FunctionName, args: object): Promise<Result> {
    return this.caller.call(name, args);
  }
}

/**
 * The memory of agents in a PostgreSQL database: one method for each function.
 *
 * Of a connection string a pool is made, which close() ends; without one, of the variables PGHOST, PGDATABASE and so on.
 * A Pool or a connection of the application's own is used as it is: with a connection the calls belong to its
 * transaction.
 */
export class Memory extends Functions {
  readonly admin: Admin;
  private readonly caller: Caller;
  private readonly embedder: QueryEmbedder;
  private readonly hear: (notice: { message?: string; code?: string; hint?: string }) => void;
  private readonly opened: pg.Pool | undefined;
  private readonly onConnect: (client: pg.PoolClient) => void;

  constructor(
    connection?: string | Queryable,
    private readonly options: MemoryOptions = {},
  ) {
    super();
    if (typeof connection === "object" && typeof connection?.query !== "function") {
      throw new AgentMemoryError({
        message: "connection: must be a connection string, or a Pool or Client of pg", code: "22023",
        hint: "Pass postgresql://user@localhost/app, or new pg.Pool({ … }) for other settings.", cause: undefined,
      });
    }
    this.opened =
      typeof connection === "object"
        ? undefined
        : new pg.Pool({ connectionString: connection, connectionTimeoutMillis: CONNECTING });
    // An idle connection that is lost would otherwise end the process; the next call opens another one.
    this.opened?.on("error", () => undefined);
    const used = this.opened ?? (connection as Queryable);
    this.caller = new Caller(used, options.schema);
    this.admin = new Admin(this.caller);
    this.embedder = new QueryEmbedder(this.caller, options.embedQueries ?? true);
    const told = options.onNotice ?? warn;
    this.hear = (notice) => {
      if (notice.code?.startsWith("01AM")) {
        told({ message: notice.message ?? "", code: notice.code, hint: notice.hint });
      }
    };
    this.onConnect = (client) => client.on("notice", this.hear);
    if (isPool(used)) {
      used.on("connect", this.onConnect);
    } else {
      used.on("notice", this.hear);
    }
  }

  protected override call<Result>(name: FunctionName, args: object): Promise<Result> {
    return this.caller.call(name, args);
  }

  override async search(args: SearchArguments): Promise<SearchRow[]> {
    return super.search(await this.embedder.withEmbedding(args, false));
  }

  override async getContext(args: GetContextArguments): Promise<GetContextRow[]> {
    return super.getContext(await this.embedder.withEmbedding(args, true));
  }

  override async renderMemories(args: RenderMemoriesArguments): Promise<string> {
    return super.renderMemories(await this.embedder.withEmbedding(args, true));
  }

  /** Do work on one connection, and return its result with the notices about it, which onNotice hears as well. */
  async heard<Result>(work: (memory: Memory) => Promise<Result>): Promise<{ result: Result; notices: Notice[] }> {
    const notices: Notice[] = [];
    const used = this.caller.connection;
    const client = isPool(used) ? await used.connect().catch((error) => Promise.reject(translated(error))) : used;
    const memory = new Memory(client, { ...this.options, onNotice: (notice) => notices.push(notice) });
    try {
      return { result: await work(memory), notices };
    } finally {
      await memory.close();
      if (isPool(used)) {
        (client as pg.PoolClient).release();
      }
    }
  }

  /** End what this client has opened. */
  async close(): Promise<void> {
    const used = this.caller.connection;
    used.removeListener("notice", this.hear);
    used.removeListener("connect", this.onConnect as never);
    await this.opened?.end();
  }
}
