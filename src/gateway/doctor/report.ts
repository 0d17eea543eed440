import type { Examination } from "./examination.ts";
import type { Latencies } from "./latency.ts";

/** All that was found out about some upstreams; plain values. */
export interface Report {
  readonly upstreams: readonly UpstreamReport[];
  /** What contradicts itself among the upstreams and makes it useless to compare them, or to trust them, in sentences. */
  readonly contradictions: readonly string[];
  /** The finalized block that the upstreams were compared at; undefined where they were not. */
  readonly comparedAt?: { readonly slot: number; readonly root: string };
  readonly operations: readonly OperationReport[];
  readonly differences: readonly Difference[];
}

/** How far an upstream is from where it could be. */
export interface Distances {
  /** Slots between its head and the slot that it is by the clock. */
  readonly behindClock?: number;
  /** Slots between its head and the newest head of all upstreams of its chain. */
  readonly behindBest?: number;
}

export interface UpstreamReport extends Omit<Examination, "spec" | "facts" | "peerId" | "observedAt">, Distances {
  readonly url: string;
  /** What its constants call the network. */
  readonly network?: string;
  /** What is wrong with it, in sentences. */
  readonly problems: readonly string[];
  readonly latency?: Latencies;
}

export interface OperationReport {
  /** The method of the interface that it is. */
  readonly method: string;
  readonly verb: "GET" | "POST";
  readonly path: string;
  /** One for each upstream, in their order. */
  readonly findings: readonly Finding[];
}

/**
 * The verdict on one operation:
 * - `ok`: answered in the form of the standard.
 * - `absent`: not offered, or not for the requested object.
 * - `declined`: an empty list was not accepted.
 * - `not-ready`: status 503 from a node that reports itself as syncing, optimistic or without its execution client.
 * - `refused`: another 4xx status to a valid request.
 * - `error`: a server error, or no response.
 * - `wrong-form`: a response that does not match the standard.
 * - `not-asked`: skipped, because the request would change something or needs a validator's signature.
 */
export type Outcome = "ok" | "absent" | "declined" | "not-ready" | "refused" | "error" | "wrong-form" | "not-asked";

export interface Finding {
  readonly outcome: Outcome;
  /** Why it is not `ok`. */
  readonly reason?: string;
  readonly millis?: number;
  /** Whether it answered, but only after a while. */
  readonly isSlow?: boolean;
  /** How it took the same in SSZ; undefined where the standard has none, or that was not asked. */
  readonly ssz?: Outcome;
}

export interface Difference {
  /** The request that was answered differently, such as `GET /eth/v1/beacon/states/96/root`. */
  readonly request: string;
  /** Where in the answer. */
  readonly path: string;
  /** What most of them say, and what some others do. */
  readonly said: readonly [Side, Side];
}

interface Side {
  readonly upstreams: readonly string[];
  readonly value: string;
}

/** Whether somebody has to do something. */
export function isWell({ upstreams, contradictions, differences }: Report): boolean {
  return (
    contradictions.length === 0 && differences.length === 0 && upstreams.every(({ problems }) => problems.length === 0)
  );
}
