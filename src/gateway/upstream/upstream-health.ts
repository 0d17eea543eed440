/**
 * Health states in order of preference: `late` upstreams time out. Upstreams that are `down` or `foreign` (on another
 * chain) get no requests.
 */
export const HEALTH_STATES = ["ready", "behind", "late", "down", "foreign"] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

export const HEALTH_LOG_MESSAGES: Readonly<Record<HealthState, string>> = {
  ready: "Upstream is ready",
  behind: "Upstream is behind",
  late: "Upstream is late",
  down: "Upstream is down",
  foreign: "Upstream is on another chain",
};

/** Health of one upstream. Structured-cloneable. */
export interface UpstreamHealth {
  readonly upstream: string;
  readonly state: HealthState;
  /** Why it is not ready, as sentences. Empty if it is. */
  readonly reasons: readonly string[];
  /** Its `/eth/v1/node/version`. */
  readonly version?: string;
  readonly head?: { readonly slot: number; readonly root: string };
  readonly finalized?: { readonly epoch: number; readonly root: string };
  readonly syncDistance?: number;
  readonly isOptimistic?: boolean;
  readonly isExecutionOffline?: boolean;
}

/** Returns the health of an upstream that was removed while requests to it were running. */
export function removedHealth(upstream: string): UpstreamHealth {
  return { upstream, state: "down", reasons: ["It was removed from the configuration."] };
}

/** True for an upstream that answers in time and may take part in a quorum. */
export function isUsable({ state }: Pick<UpstreamHealth, "state">): boolean {
  return state === "ready" || state === "behind";
}

/** Tracks the health of all upstreams, and the head floor. */
export interface HealthTracker {
  readonly all: readonly UpstreamHealth[];
  /** Upstreams that are not monitored are down. */
  of(upstream: string): UpstreamHealth;
  /** Calls the listener on every change. Returns a function that removes it. */
  onChange(listener: () => void): () => void;
  /** Slot of the newest head that a client has seen. Upstreams below it get no head-bound requests. */
  readonly headFloor: number;
  /** Raises the head floor to the slot of a head that a client is about to see. */
  raiseHeadFloor(slot: number): void;
  /** How often the chain was reverted behind finality. Each time, cached final answers become invalid. */
  readonly finalityReverts: number;
}
