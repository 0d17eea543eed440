import type { Inspection } from "./inspection.ts";
import type { Latencies } from "./latency.ts";

/** Result of a diagnosis. Plain JSON. */
export interface Report {
  readonly upstreams: readonly UpstreamReport[];
  /** Contradictions between upstreams that make a comparison meaningless, as sentences. */
  readonly contradictions: readonly string[];
  /** The finalized block at which answers were compared. Undefined if they were not. */
  readonly comparedAt?: { readonly slot: number; readonly root: string };
  readonly operations: readonly OperationReport[];
  readonly differences: readonly Difference[];
}

/** Lag of an upstream. */
export interface Distances {
  /** Slots between its head and the clock. */
  readonly behindClock?: number;
  /** Slots between its head and the newest head on the same chain. */
  readonly behindBest?: number;
}

export interface UpstreamReport extends Omit<Inspection, "spec" | "chainSpec" | "peerId" | "observedAt">, Distances {
  readonly url: string;
  /** `CONFIG_NAME` of its constants. */
  readonly network?: string;
  /** As sentences. */
  readonly problems: readonly string[];
  readonly latency?: Latencies;
}

export interface OperationReport {
  /** Name of the Fanal method. */
  readonly method: string;
  readonly verb: "GET" | "POST";
  readonly path: string;
  /** One for each upstream, in order. */
  readonly findings: readonly Finding[];
}

/**
 * The verdict on one operation:
 * - `ok`: answered as the standard specifies.
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
  /** True if it answered slowly. */
  readonly isSlow?: boolean;
  /** Outcome in SSZ. Undefined if not specified or not tested. */
  readonly ssz?: Outcome;
}

export interface Difference {
  /** The request, such as `GET /eth/v1/beacon/states/96/root`. */
  readonly request: string;
  /** Path in the answer. */
  readonly path: string;
  /** The majority's answer and a different one. */
  readonly said: readonly [Side, Side];
}

interface Side {
  readonly upstreams: readonly string[];
  readonly value: string;
}

/** True if no problem was found. */
export function isHealthy({ upstreams, contradictions, differences }: Report): boolean {
  return (
    contradictions.length === 0 && differences.length === 0 && upstreams.every(({ problems }) => problems.length === 0)
  );
}
