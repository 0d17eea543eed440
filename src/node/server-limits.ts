import { type CallLimits, DEFAULT_CALL_LIMITS } from "../api/lanes.ts";
import { DEFAULT_JSON_RPC_LIMITS, type JsonRpcLimits } from "../server/jsonrpc/limits.ts";

/** What clients may ask of the servers; each server keeps to it by itself, the calls of all of them share their lanes. */
export interface ServerLimits extends JsonRpcLimits {
  calls: CallLimits;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = { ...DEFAULT_JSON_RPC_LIMITS, calls: DEFAULT_CALL_LIMITS };
