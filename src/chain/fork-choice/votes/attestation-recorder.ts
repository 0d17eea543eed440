import { NO_NODE, type ProtoArray, voteTarget } from "../tree/proto-array.ts";
import { type AttestationVotes, supportedStatus } from "../types.ts";
import type { Votes } from "./votes.ts";

interface AttestationRecorderParts {
  tree: ProtoArray;
  votes: Votes;
  slotsPerEpoch: number;
  gloasForkEpoch: number;
}

interface ReceivedAt {
  currentSlot: number;
  /** False for attestations from gossip. */
  isFromBlock: boolean;
}

/** Records attestations as latest messages (on_attestation), from the slot after their own. */
export class AttestationRecorder {
  readonly #parts: AttestationRecorderParts;
  #queued: AttestationVotes[] = [];
  /** Latest slot reached before the clock was set back. */
  #setBackFrom = Number.NEGATIVE_INFINITY;

  constructor(parts: AttestationRecorderParts) {
    this.#parts = parts;
  }

  capture() {
    return { queued: [...this.#queued], setBackFrom: this.#setBackFrom };
  }

  restore({ queued, setBackFrom }: ReturnType<AttestationRecorder["capture"]>): void {
    this.#queued = queued;
    this.#setBackFrom = setBackFrom;
  }

  /** on_attestation. Keeps a reference to the indices. */
  onAttestation(attestation: AttestationVotes, { currentSlot, isFromBlock }: ReceivedAt): void {
    // validate_target_epoch_against_current_time
    const currentEpoch = Math.floor(currentSlot / this.#parts.slotsPerEpoch);
    if (!isFromBlock && attestation.targetEpoch + 1 < currentEpoch) return;
    if (attestation.slot >= currentSlot) this.#queued.push(attestation);
    else this.#record(attestation, currentSlot);
  }

  /**
   * Records queued votes in slot order, even if the clock skipped slots, because a validator's first vote in an epoch
   * counts.
   */
  onTick(currentSlot: number): void {
    const queued = this.#queued.sort((a, b) => a.slot - b.slot);
    this.#queued = [];
    for (const attestation of queued) this.onAttestation(attestation, { currentSlot, isFromBlock: true });
  }

  /** Handles a clock that was set back from a slot: votes after the new slot can be replaced (`Votes.record`). */
  onClockSetBack(from: number): void {
    this.#setBackFrom = Math.max(this.#setBackFrom, from);
  }

  #record(
    { indices, slot, targetEpoch, blockRoot, payloadPresent = false }: AttestationVotes,
    currentSlot: number,
  ): void {
    const { tree, votes, slotsPerEpoch, gloasForkEpoch } = this.#parts;
    const node = tree.indexOf(blockRoot);
    if (node === NO_NODE || tree.nodeAt(node).block.slot > slot) return;
    const payloadStatus = supportedStatus(tree.nodeAt(node).block, { slot, payloadPresent });
    if (payloadStatus === null) return;
    const target = voteTarget(node, payloadStatus);
    const isGloas = Math.floor(slot / slotsPerEpoch) >= gloasForkEpoch;
    const messageSlot = isGloas ? slot : targetEpoch * slotsPerEpoch;
    const replaceableAfter = currentSlot < this.#setBackFrom ? currentSlot : undefined;
    for (let position = 0; position < indices.length; position++) {
      votes.record(indices[position]!, target, messageSlot, replaceableAfter);
    }
  }
}
