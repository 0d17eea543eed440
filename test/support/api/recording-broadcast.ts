import type { Broadcast } from "../../../src/network/broadcast.ts";

interface Sent {
  kind: keyof Broadcast;
  item: unknown;
  subnet?: number;
}

/** Broadcast that records messages instead of sending them. */
export class RecordingBroadcast implements Broadcast {
  #sent: Sent[] = [];

  /** Returns the messages since the last call. */
  take(): Sent[] {
    const sent = this.#sent;
    this.#sent = [];
    return sent;
  }

  block(item: unknown): void {
    this.#note("block", item);
  }
  sidecars(items: readonly unknown[]): void {
    this.#note("sidecars", items);
  }
  attestation(item: unknown, subnet: number): void {
    this.#note("attestation", item, subnet);
  }
  aggregate(item: unknown): void {
    this.#note("aggregate", item);
  }
  syncMessage(item: unknown, subnet: number): void {
    this.#note("syncMessage", item, subnet);
  }
  contribution(item: unknown): void {
    this.#note("contribution", item);
  }
  voluntaryExit(item: unknown): void {
    this.#note("voluntaryExit", item);
  }
  proposerSlashing(item: unknown): void {
    this.#note("proposerSlashing", item);
  }
  attesterSlashing(item: unknown): void {
    this.#note("attesterSlashing", item);
  }
  blsToExecutionChange(item: unknown): void {
    this.#note("blsToExecutionChange", item);
  }
  payload(item: unknown): void {
    this.#note("payload", item);
  }
  payloadAttestation(item: unknown): void {
    this.#note("payloadAttestation", item);
  }
  executionBid(item: unknown): void {
    this.#note("executionBid", item);
  }
  proposerPreferences(item: unknown): void {
    this.#note("proposerPreferences", item);
  }

  #note(kind: keyof Broadcast, item: unknown, subnet?: number): void {
    this.#sent.push(subnet === undefined ? { kind, item } : { kind, item, subnet });
  }
}
