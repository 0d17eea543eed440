/** Error codes of JSON-RPC and the Engine API, with the messages of the specification. */
const MESSAGES = {
  [-32601]: "Method not found",
  [-32602]: "Invalid params",
  [-32000]: "Server error",
  [-32603]: "Internal error",
  [-38001]: "Unknown payload",
  [-38002]: "Invalid forkchoice state",
  [-38003]: "Invalid payload attributes",
  [-38004]: "Too large request",
  [-38005]: "Unsupported fork",
} as const;

/** JSON-RPC error of a call. */
export class JsonRpcError extends Error {
  readonly code: number;

  constructor(code: keyof typeof MESSAGES, detail?: string) {
    super(detail === undefined ? MESSAGES[code] : `${MESSAGES[code]}: ${detail}`);
    this.name = "JsonRpcError";
    this.code = code;
  }
}
