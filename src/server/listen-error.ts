/** A server cannot listen. */
export class ListenError extends Error {
  readonly server: "json-rpc" | "rest" | "metrics";
  /** That of the system, `EADDRINUSE` when the port is taken. */
  readonly code: string | undefined;

  constructor(server: ListenError["server"], { message, code }: { message: string; code?: string | undefined }) {
    super(message);
    this.name = "ListenError";
    this.server = server;
    this.code = code;
  }
}
