import type { LogFields, LogLevel, LogTopic } from "../../log/logger.ts";
import type { ServerOptions, ServerUrls } from "../gateway-server.ts";
import type { ServerName, ServerReport } from "../metrics/server-report.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import type { GatewaySettings } from "../settings.ts";
import type { RouteKey } from "../upstream/selection/sticky-routes.ts";
import type { UpstreamHealth } from "../upstream/upstream-health.ts";

/** Messages between the primary process and the workers. Delivered in order. */

/** Configuration and initial state of a worker. */
export interface WorkerConfig {
  settings: GatewaySettings;
  chainSpec: ChainSpec;
  servers: ServerOptions;
  hasMetrics: boolean;
  hasAccessLog: boolean;
  health: readonly UpstreamHealth[];
  headFloor: number;
  finalityReverts: number;
}

export interface WorkerReport extends ServerReport {
  /** Event subscribers by topic. */
  subscriberCounts: (readonly [topic: string, count: number])[];
}

export type ToWorker =
  | [kind: "serve", config: WorkerConfig]
  | [kind: "health", health: readonly UpstreamHealth[]]
  /** `isLowered` distinguishes a lowered floor from an outdated message. */
  | [kind: "headFloor", slot: number, isLowered: boolean]
  /** Number of reverts behind finality so far. */
  | [kind: "finalityReverts", count: number]
  /** Another worker has pinned a sticky route. */
  | [kind: "pinned", routeKey: RouteKey, upstream: string]
  | [kind: "event", topic: string, data: Uint8Array]
  /** Events were lost. All subscribers are disconnected. */
  | [kind: "cut off"]
  | [kind: "report"]
  /** Upstreams, clients or policies have changed. Answered by "reloaded". */
  | [kind: "reload", settings: GatewaySettings]
  /** Answers "count" with the new total. */
  | [kind: "counted", id: number, total: number]
  /** Report as not ready and continue to serve. */
  | [kind: "drain"]
  | [kind: "close"];

export type ToPrimary =
  | [kind: "listening", urls: ServerUrls]
  | [kind: "cannot listen", server: ServerName, error: { message: string; code: string | undefined }]
  /** A client sees a head at this slot. */
  | [kind: "raise head floor", slot: number]
  /** Several consecutive requests to an upstream failed. */
  | [kind: "failing", upstream: string, reason: string]
  | [kind: "pinned", routeKey: RouteKey, upstream: string]
  /** Topics with subscribers. */
  | [kind: "subscribe", topics: readonly string[]]
  | [kind: "log", topic: LogTopic | undefined, level: LogLevel, message: string, fields: LogFields | undefined]
  /** Adds to a counter of a budget. */
  | [kind: "count", id: number, counter: string, amount: number, ttlSeconds: number]
  /** Access log lines. */
  | [kind: "access", lines: string]
  | [kind: "report", report: WorkerReport]
  /** Calls from now on use the changed settings. */
  | [kind: "reloaded"]
  | [kind: "closed"];
