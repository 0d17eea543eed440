import type { RootHex } from "@lodestar/types";
import type { PayloadAttestationVotes } from "../types.ts";

const VOTED = 1;
const PAYLOAD_PRESENT = 2;
const BLOB_DATA_AVAILABLE = 4;

/** What a payload attestation is about, as in `PayloadAttestationData`. */
export type PayloadVote = "payloadPresent" | "blobDataAvailable";

const BIT_OF = { payloadPresent: PAYLOAD_PRESENT, blobDataAvailable: BLOB_DATA_AVAILABLE };

/**
 * Votes of the payload timeliness committees: payload_timeliness_vote and payload_data_availability_vote of the store
 * in gloas/fork-choice.md. Takes up one byte per committee position of each block with votes.
 */
export class PayloadVotes {
  readonly #ptcSize: number;
  readonly #votesByRoot = new Map<RootHex, Uint8Array>();

  constructor(ptcSize: number) {
    this.#ptcSize = ptcSize;
  }

  /** Later votes replace earlier ones of the same position. */
  record({ blockRoot, positions, payloadPresent, blobDataAvailable }: PayloadAttestationVotes): void {
    const votes = this.#votesByRoot.get(blockRoot) ?? new Uint8Array(this.#ptcSize);
    this.#votesByRoot.set(blockRoot, votes);
    const vote = VOTED | (payloadPresent ? PAYLOAD_PRESENT : 0) | (blobDataAvailable ? BLOB_DATA_AVAILABLE : 0);
    for (const position of positions) votes[position] = vote;
  }

  /** Returns true if more than half of the committee votes like `value`. Positions without a vote count for neither. */
  hasMajority(root: RootHex, about: PayloadVote, value: boolean): boolean {
    let count = 0;
    for (const vote of this.#votesByRoot.get(root) ?? []) {
      if ((vote & VOTED) !== 0 && ((vote & BIT_OF[about]) !== 0) === value) count++;
    }
    // PAYLOAD_TIMELY_THRESHOLD, DATA_AVAILABILITY_TIMELY_THRESHOLD
    return count > Math.floor(this.#ptcSize / 2);
  }

  /** Returns the vote of each committee position; null for positions without a vote. */
  votesOf(root: RootHex, about: PayloadVote): (boolean | null)[] {
    const votes = this.#votesByRoot.get(root) ?? new Uint8Array(this.#ptcSize);
    return Array.from(votes, (vote) => ((vote & VOTED) === 0 ? null : (vote & BIT_OF[about]) !== 0));
  }

  /** Returns the votes of a block in the form that `set` takes; undefined if there are none. */
  get(root: RootHex): Uint8Array | undefined {
    return this.#votesByRoot.get(root);
  }

  /** Replaces the votes of a block. Ignores those of a committee of another size. */
  set(root: RootHex, votes: Uint8Array): void {
    if (votes.length === this.#ptcSize) this.#votesByRoot.set(root, votes);
  }

  delete(root: RootHex): void {
    this.#votesByRoot.delete(root);
  }

  capture(): [RootHex, Uint8Array][] {
    return Array.from(this.#votesByRoot, ([root, votes]) => [root, votes.slice()]);
  }

  restore(entries: readonly [RootHex, Uint8Array][]): void {
    this.#votesByRoot.clear();
    for (const [root, votes] of entries) this.#votesByRoot.set(root, votes);
  }
}
