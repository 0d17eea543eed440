/**
 * How well an upstream can be asked: `ready` before `behind`, and that before `late`, which does not answer in time; these are asked only when
 * none is better, and the others never.
 */
export const FITNESSES = ["ready", "behind", "late", "down", "foreign"] as const;
export type Fitness = (typeof FITNESSES)[number];

/** What is known of an upstream; a plain value, which can be sent to another process. */
export interface Condition {
  readonly upstream: string;
  readonly fitness: Fitness;
  /** Why it is not ready, in sentences; empty when it is. */
  readonly reasons: readonly string[];
  /** What it calls itself. */
  readonly version?: string;
  readonly head?: { readonly slot: number; readonly root: string };
  readonly finalized?: { readonly epoch: number; readonly root: string };
  readonly syncDistance?: number;
  readonly isOptimistic?: boolean;
  readonly isExecutionOffline?: boolean;
}

/** What is known of all upstreams, and of the head that clients have been told. */
export interface Conditions {
  readonly all: readonly Condition[];
  of(upstream: string): Condition;
  /** Calls back when anything has changed; the returned function ends it. */
  onChange(listener: () => void): () => void;
  /** The slot of the head that clients have been told: those who ask about the head get nothing older. */
  readonly floor: number;
  /** Somebody is told of a head at this slot. */
  raiseFloor(slot: number): void;
  /** How often the chain has gone back behind what was final: of what was final before, nothing need be so any more. */
  readonly rewinds: number;
}
