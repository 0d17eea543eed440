import type { MessagePort } from "node:worker_threads";
import type { SerializedError } from "../../../threads/error-registry.ts";
import type { TransferredBytes } from "../../../threads/transferred-bytes.ts";
import type { LaneLimits } from "../../lane.ts";

/** A third thread that answers calls of some methods, so that these calls bypass the main thread. */
export interface MethodThread {
  readonly methods: DirectMethods;
  /**
   * Publishes changes in the main thread to the third thread. Must be called before the server thread can learn of the
   * changes.
   */
  publish(): void;
  /**
   * Calls the listener with each connection to the thread. Until the first connection, calls pass through the main
   * thread.
   */
  onConnection(listener: (connection: MethodConnection) => void): void;
}

/** A connection to the thread. It closes when the thread ends or no longer provides the methods. */
export interface MethodConnection {
  port: MessagePort;
  /** Replaces the thread because a call of the method did not end within the grace period. */
  replace(method: string): void;
}

export interface DirectMethods {
  methods: readonly DirectMethod[];
  lane: LaneLimits;
  /** Time within which a call has to end after its time limit has expired or its caller has left. */
  graceMs: number;
}

export interface DirectMethod {
  name: string;
  /** True for short calls, which go to the main thread while others run in the third thread. */
  isShort: boolean;
  limitMs: number;
  /** The error for calls that exceed the time limit. */
  timeout: SerializedError;
}

/** Messages from the server thread to the third thread. */
export type DirectCall =
  | [kind: "call", id: number, method: string, params: string, isIrregular: boolean | undefined]
  | [kind: "cancel", id: number, reason: SerializedError];

/** Each call gets exactly one answer, even if it was cancelled. */
export type DirectAnswer =
  | [kind: "result", id: number, json: TransferredBytes, isCacheable: boolean]
  | [kind: "thrown", id: number, thrown: SerializedError];
