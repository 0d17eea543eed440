import type { CallStats } from "../../server/call-stats.ts";
import type { ServerLoad } from "../../server/http/server.ts";
import type { GatewayCounts } from "./gateway-counters.ts";

export type ServerName = "json-rpc" | "rest";

/** Server loads, and counts since the previous report. Structured-cloneable. */
export interface ServerReport {
  loads: [ServerName, ServerLoad][];
  calls: CallStats[];
  gateway: GatewayCounts;
}
