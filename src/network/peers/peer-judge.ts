/** How often a peer may do something of the kind before it is dropped: never again, a few times, or some dozens of times. */
export type Severity = "fatal" | "severe" | "moderate" | "mild";

/** Takes note of what peers do wrong. */
export interface PeerReporter {
  /** `reason` is a few words for the log, such as "blocks out of order". */
  penalize(peerId: string, severity: Severity, reason: string): void;
}
