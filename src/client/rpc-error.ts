/** What the node says beside the message of an error. */
export interface RpcErrorData {
  /** The HTTP status with which the REST API would answer the same call. */
  readonly status: number;
  readonly detail?: string;
  /** Which items of a list were refused, and why. */
  readonly failures?: readonly { readonly index: number; readonly message: string }[];
}

/** The node's answer to a call that it refused or could not serve. Its message says what was wrong and what is right. */
export class RpcError extends Error {
  readonly code: number;
  /** Undefined where another server answered. */
  readonly data: RpcErrorData | undefined;

  constructor({ code, message, data }: { code: number; message: string; data?: RpcErrorData | undefined }) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}
