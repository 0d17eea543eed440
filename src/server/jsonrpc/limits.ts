import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "../http/server.ts";

export interface JsonRpcLimits extends HttpLimits {
  /** The longest batch. */
  batchLength: number;
  /** How large the answers to a batch may grow before the rest of its calls is refused. */
  batchBytes: number;
}

export const DEFAULT_JSON_RPC_LIMITS: JsonRpcLimits = {
  ...DEFAULT_HTTP_LIMITS,
  batchLength: 1000,
  batchBytes: 32 * 1024 * 1024,
};
