/** An error of the database, with the argument that it is about and what to do. */
export class AgentMemoryError extends Error {
  /** The SQLSTATE: 22023 for a wrong argument, P0002 for what does not exist; docs/errors.md has all. */
  readonly code: string | undefined;
  /** The argument that the error is about, where it is about one. */
  readonly argument: string | undefined;
  /** What to do. */
  readonly hint: string | undefined;
  readonly detail: string | undefined;

  constructor(cause: { message: string; code?: string; hint?: string; detail?: string }) {
    super(cause.message, { cause });
    this.name = "AgentMemoryError";
    this.code = cause.code;
    this.hint = cause.hint;
    this.detail = cause.detail;
    this.argument = /^([a-z_]+)(?:\[\d+\])?: /.exec(cause.message)?.[1];
  }
}
