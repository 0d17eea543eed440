import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "../http/server.ts";

export interface JsonRpcLimits extends HttpLimits {
  /** Maximum number of calls in a batch. */
  batchLength: number;
  /** Maximum total size of the responses in a batch. Further calls in the batch are rejected. */
  batchBytes: number;
}

export const DEFAULT_JSON_RPC_LIMITS: JsonRpcLimits = {
  ...DEFAULT_HTTP_LIMITS,
  batchLength: 1000,
  batchBytes: 32 * 1024 * 1024,
};
