import { type CallLimits, DEFAULT_CALL_LIMITS } from "../../api/lanes.ts";
import { DEFAULT_JSON_RPC_LIMITS, type JsonRpcLimits } from "../../server/jsonrpc/limits.ts";

/** Limits of the servers. Each server enforces them separately, except for `calls`, which are shared. */
export interface ServerLimits extends JsonRpcLimits {
  calls: CallLimits;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = { ...DEFAULT_JSON_RPC_LIMITS, calls: DEFAULT_CALL_LIMITS };
