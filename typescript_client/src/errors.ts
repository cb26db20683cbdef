/** An error of the database, with the argument that it is about and what to do. */
export class AgentMemoryError extends Error {
  /** The SQLSTATE: 22023 for a wrong argument, P0002 for what does not exist; docs/errors.md has all. */
  readonly code: string | undefined;
  /** The argument that the error is about, where it is about one. */
  readonly argument: string | undefined;
  /** What to do. */
  readonly hint: string | undefined;
  readonly detail: string | undefined;

  constructor(cause: { message: string; code?: string; hint?: string; detail?: string; cause?: unknown }) {
    super(cause.message, { cause: "cause" in cause ? cause.cause : cause });
    this.name = "AgentMemoryError";
    this.code = cause.code;
    this.hint = cause.hint;
    this.detail = cause.detail;
    this.argument = /^([a-z_]+)(?:\[\d+\])?: /.exec(cause.message)?.[1];
  }

  /** Whether the database is out of reach or has failed: another argument would not help. */
  get isUnavailable(): boolean {
    return /^(08|28|3D|40|53|55P03|57|58|XX)/.test(this.code ?? "");
  }
}

/** What pg tells of an error of the server. */
interface ServerError extends Error {
  severity: string;
  code?: string;
  hint?: string;
  detail?: string;
  /** Where in functions the error was raised; undefined for an error of our own statement. */
  where?: string;
}

const INSTALL =
  "Run, as the owner of the database: psql -v ON_ERROR_STOP=1 -d DATABASE -f build/agent_memory.sql (of a clone), or " +
  "agent-memory install --dsn DATABASE (of the Python package).";
const CONNECTION_STRING = "See the connection string, such as postgresql://user@localhost/app.";

/** What helps where the server refuses a connection or a statement, by its SQLSTATE. */
const HINTS: Record<string, string> = {
  "28000": `The server does not let this user in: create the role, or name another one. ${CONNECTION_STRING}`,
  "28P01": `The password of this user is another one. ${CONNECTION_STRING}`,
  "3D000": `Run: createdb DATABASE. ${INSTALL}`,
  "42501": "As the owner of the schema: agent-memory grant app ROLE, or grant memory_app to ROLE; docs/roles.md has the roles of each database.",
  "53300": "Use one pool in a process, with fewer connections (max), or raise max_connections of the server.",
  "57P01": "The server was stopped or restarted: call again.",
  "57P03": "The server is starting or stopping: call again in a moment.",
};

/** What helps where there is no connection, by what pg or node says. */
const UNCONNECTED: [RegExp, string, string][] = [
  [/ECONNREFUSED|ENOENT|EACCES/, "08001", "Start the server there, or name another one in the connection string."],
  [/ENOTFOUND|EAI_AGAIN/, "08001", `There is no such host. ${CONNECTION_STRING}`],
  [/password must be a string/, "08001", "Put the password into the connection string, PGPASSWORD or ~/.pgpass."],
  [/after calling end/, "08003", "close() was called, or the pool was ended: make a new Memory."],
  [/timeout (expired|exceeded)|connection timeout/, "08001", "The server does not answer, or all connections of the pool are busy: raise its max."],
  [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|SSL/, "08001", CONNECTION_STRING],
  [/ECONNRESET|EPIPE|terminated|not queryable|was closed/, "08006", "The connection was lost: call again, on a new one."],
];

/** The error as this package throws it. Errors of the application's own code stay what they are. */
export function translated(error: unknown, names: string[] = []): unknown {
  if (typeof error !== "object" || error === null || error instanceof AgentMemoryError) {
    return error;
  }
  if ("severity" in error) {
    return ofServer(error as ServerError, names);
  }
  const { code, message, errors } = error as { code?: string; message?: string; errors?: Error[] };
  if (code === "ERR_INVALID_URL") {
    // The error repeats the string, which may have a password.
    return new AgentMemoryError({
      message: "the connection string cannot be read", code: "08001", hint: CONNECTION_STRING, cause: undefined,
    });
  }
  // Where a name has several addresses, node tells of each of them.
  const said = errors?.map((each) => each.message).join(", ") || (message ?? "");
  const known = UNCONNECTED.find(([pattern]) => pattern.test(`${said} ${code}`));
  return known === undefined ? error : new AgentMemoryError({ message: said, code: known[1], hint: known[2], cause: error });
}

function ofServer(error: ServerError, names: string[]): AgentMemoryError {
  const { code = "", hint, detail, where } = error;
  // Without a place, the statement itself failed and not something inside the function that it called.
  if (["3F000", "42883", "42P01"].includes(code) && where === undefined) {
    const message = code === "3F000"
      ? `there is no agent_memory in this database: ${error.message}`
      : `this database has no agent_memory, one of another version, or the core without this add-on: ${error.message}`;
    return new AgentMemoryError({ message, code, hint: INSTALL, cause: error });
  }
  const place = /^unnamed portal parameter \$(\d+)/.exec(where ?? "")?.[1];
  const name = place === undefined ? undefined : names[Number(place) - 1];
  return new AgentMemoryError({
    message: name === undefined ? error.message : `${name}: ${error.message}`,
    code, hint: hint ?? HINTS[code], detail, cause: error,
  });
}
