import type { MessagePort } from "node:worker_threads";
import type { SerializedError } from "../../../threads/error-registry.ts";
import type { TransferredBytes } from "../../../threads/transferred-bytes.ts";
import type { LaneLimits } from "../../lane.ts";

/** A third thread that answers calls of some methods, which then do not pass through the main thread. */
export interface MethodThread {
  readonly methods: DirectMethods;
  /** Publishes changes of the main thread to the thread. Called before the servers' thread can learn of them. */
  publish(): void;
  /** Calls the listener with each connection to the thread. Calls pass through the main thread before the first one. */
  onConnection(listener: (connection: MethodConnection) => void): void;
}

/** A connection to the thread. It closes when the thread ends or no longer has the methods. */
export interface MethodConnection {
  port: MessagePort;
  /** Replaces the thread, because a call of the method did not end within the grace period. */
  replace(method: string): void;
}

export interface DirectMethods {
  methods: readonly DirectMethod[];
  lane: LaneLimits;
  /** A call has to end within this time after its time limit, or after its caller has left. */
  graceMs: number;
}

export interface DirectMethod {
  name: string;
  limitMs: number;
  /** Error of calls that reach the limit. */
  timeout: SerializedError;
}

/** Messages of the servers' thread to the thread. */
export type DirectCall =
  | [kind: "call", id: number, method: string, params: string, isIrregular: boolean | undefined]
  | [kind: "cancel", id: number, reason: SerializedError];

/** Each call has one answer, also after it was cancelled. */
export type DirectAnswer =
  | [kind: "result", id: number, json: TransferredBytes, isCacheable: boolean]
  | [kind: "thrown", id: number, thrown: SerializedError];
