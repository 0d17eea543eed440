/** geth's error codes. */
const SERVER_ERROR = -32000;
const EXECUTION_REVERTED = 3;

/** Error from an `eth_*` call, with geth's message and code. Client libraries parse both. */
export class EthError extends Error {
  readonly code: number;
  /** JSON value; for a revert, the return data in hex. */
  readonly data: unknown;

  constructor(message: string, code: number = SERVER_ERROR, data?: unknown) {
    super(message);
    this.name = "EthError";
    this.code = code;
    this.data = data;
  }

  /** A reverted call. `reason` is the decoded message, if any. */
  static reverted(data: string, reason?: string): EthError {
    const message = reason === undefined ? "execution reverted" : `execution reverted: ${reason}`;
    return new EthError(message, EXECUTION_REVERTED, data);
  }
}
