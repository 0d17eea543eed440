import type { LogFields, LogLevel, LogTopic } from "../../log/logger.ts";
import type { ChainFacts } from "../chain-facts.ts";
import type { Condition } from "../condition.ts";
import type { GatewayOptions } from "../options.ts";
import type { ServedOptions, ServedUrls, ServerName, ServingReport } from "../serving.ts";
import type { Bond } from "../upstream/bonds.ts";

/** What the primary process of a gateway and those that serve tell each other. Messages arrive in the order in which they were sent. */

/** All that a worker has to know to serve. */
export interface WorkerOrder {
  options: GatewayOptions;
  facts: ChainFacts;
  served: ServedOptions;
  isMeasured: boolean;
  /** Whether there is an access log. */
  isLogged: boolean;
  conditions: readonly Condition[];
  floor: number;
  rewinds: number;
}

export interface WorkerReport extends ServingReport {
  /** How many read events, by topic. */
  readers: (readonly [topic: string, count: number])[];
}

export type ToWorker =
  | [kind: "serve", order: WorkerOrder]
  | [kind: "conditions", conditions: readonly Condition[]]
  /** `isLetGo` when it is lower because no upstream reaches it, not because a worker has raised it meanwhile. */
  | [kind: "floor", slot: number, isLetGo: boolean]
  /** The chain has gone back behind what was final, so often until now. */
  | [kind: "rewinds", count: number]
  /** Another worker had an upstream give the first of what belongs together. */
  | [kind: "tied", bond: Bond, upstream: string]
  | [kind: "event", topic: string, data: Uint8Array]
  /** More happens than can be told; whoever reads events gets no more. */
  | [kind: "cut off"]
  | [kind: "report"]
  /** To say from now on that it is not ready, and to go on serving. */
  | [kind: "drain"]
  | [kind: "close"];

export type ToPrimary =
  | [kind: "listening", urls: ServedUrls]
  | [kind: "cannot listen", server: ServerName, error: { message: string; code: string | undefined }]
  /** Somebody was told of a head at this slot. */
  | [kind: "raise floor", slot: number]
  /** Questions to an upstream failed several times in a row. */
  | [kind: "suspect", upstream: string, reason: string]
  | [kind: "tied", bond: Bond, upstream: string]
  /** The topics of which somebody reads the events now. */
  | [kind: "follow", topics: readonly string[]]
  | [kind: "log", topic: LogTopic | undefined, level: LogLevel, message: string, fields: LogFields | undefined]
  /** Lines of the access log. */
  | [kind: "access", lines: string]
  | [kind: "report", report: WorkerReport]
  | [kind: "closed"];
