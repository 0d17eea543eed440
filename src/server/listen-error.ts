/** Thrown if a server fails to listen. */
export class ListenError extends Error {
  readonly server: "json-rpc" | "eth-rpc" | "rest" | "signer" | "metrics";
  /** The system's error code, such as `EADDRINUSE`. */
  readonly code: string | undefined;

  constructor(server: ListenError["server"], { message, code }: { message: string; code?: string | undefined }) {
    super(message);
    this.name = "ListenError";
    this.server = server;
    this.code = code;
  }
}
