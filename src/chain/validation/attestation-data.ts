import { ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  type EpochShuffling,
  getAttestationDataSigningRoot,
} from "@lodestar/state-transition";
import { type phase0, type RootHex, type Slot, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { stateOrIgnore, type ValidationContext } from "./context.ts";
import { ignore, reject } from "./outcome.ts";
import { refuseOutsideAttestationWindow } from "./time-window.ts";

/** Result shared by all attestations with the same data. */
interface CheckedAttestationData {
  dataRoot: RootHex;
  signingRoot: Uint8Array;
  /** Shuffling of the target epoch. */
  shuffling: EpochShuffling;
}

/**
 * Validates the data of single attestations and aggregates. Caches the verdict for each data object, because most
 * attestations in a slot share the same data.
 */
export class AttestationDataRules {
  readonly #context: ValidationContext;
  /** Subject of error messages. */
  readonly #subject: string;
  readonly #verdicts = new Map<string, Promise<CheckedAttestationData>>();

  constructor(context: ValidationContext, subject: string) {
    this.#context = context;
    this.#subject = subject;
  }

  check(data: phase0.AttestationData): Promise<CheckedAttestationData> {
    const key = Buffer.from(ssz.phase0.AttestationData.serialize(data)).toString("base64");
    let verdict = this.#verdicts.get(key);
    if (!verdict) {
      verdict = this.#checkNew(data);
      this.#verdicts.set(key, verdict);
    }
    return verdict;
  }

  async #checkNew(data: phase0.AttestationData): Promise<CheckedAttestationData> {
    const { config, states } = this.#context;
    refuseOutsideAttestationWindow(this.#context, data.slot, this.#subject);
    const epoch = computeEpochAtSlot(data.slot);
    if (data.target.epoch !== epoch) {
      throw reject(
        "target-epoch-mismatch",
        `${this.#subject} of slot ${data.slot} (epoch ${epoch}) has target epoch ${data.target.epoch}.`,
      );
    }
    const fork = config.getForkSeq(data.slot);
    if (fork >= ForkSeq.electra && fork < ForkSeq.gloas && data.index !== 0) {
      throw reject("data-index-not-zero", `${this.#subject} has data index ${data.index}, expected 0 since Electra.`);
    }
    if (fork >= ForkSeq.gloas && data.index > 1) {
      throw reject("wrong-payload-vote", `${this.#subject} has data index ${data.index}, expected 0 or 1 since Gloas.`);
    }
    await this.#refuseUnfitBlock(data);
    if (fork >= ForkSeq.gloas) this.#refusePayloadVote(data);
    const shuffling = await stateOrIgnore(
      states.shuffling(toRootHex(data.beaconBlockRoot), data.target.epoch),
      this.#subject,
    );
    return {
      dataRoot: toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data)),
      signingRoot: getAttestationDataSigningRoot(config, data.slot, data),
      shuffling,
    };
  }

  async #refuseUnfitBlock(data: phase0.AttestationData): Promise<void> {
    const { forkChoice, blocks, invalidBlocks } = this.#context;
    const blockRoot = toRootHex(data.beaconBlockRoot);
    // The sender is not penalized, because an optimistic peer forwards such votes in good faith.
    if (forkChoice.isInvalid(blockRoot)) {
      throw ignore(
        "invalid-block",
        `${this.#subject} votes for block ${blockRoot}, whose execution payload is invalid.`,
      );
    }
    const block = forkChoice.get(blockRoot);
    if (!block) {
      if (invalidBlocks.has(blockRoot)) {
        throw reject(
          "invalid-block",
          `${this.#subject} votes for block ${blockRoot}, which is invalid or descends from an invalid block.`,
        );
      }
      // Fork choice prunes finalized blocks. A newer unknown block may still arrive.
      const stored = await blocks.link(blockRoot);
      if (stored) this.#refuseBlockBeforeFinality({ root: blockRoot, slot: stored.slot });
      throw ignore("unknown-block", `${this.#subject} votes for the unknown block ${blockRoot}.`);
    }
    // fork-choice.md, validate_on_attestation. This is not a gossip rule, so the sender is not penalized.
    if (block.slot > data.slot) {
      throw ignore(
        "block-after-vote",
        `${this.#subject} of slot ${data.slot} votes for a block of the later slot ${block.slot}.`,
      );
    }
    // Not in the specification, but common in other clients: the vote is still unverified, and each such block would
    // require advancing another state. Exempts the head and the canonical block at the vote's slot, so that a stalled
    // chain can recover.
    const isTooOld = computeEpochAtSlot(block.slot) + 1 < data.target.epoch;
    if (isTooOld && blockRoot !== forkChoice.canonicalAtSlot(data.slot)?.root) {
      throw ignore(
        "block-too-old",
        `${this.#subject} of epoch ${data.target.epoch} votes for block ${blockRoot} of slot ${block.slot}, which is neither in ` +
          "that epoch nor in the previous one, and was not the head.",
      );
    }
    if (!forkChoice.isDescendantOfFinalized(blockRoot)) {
      this.#refuseBlockBeforeFinality(block);
      throw ignore(
        "not-descended-from-finalized",
        `${this.#subject} votes for block ${blockRoot}, which does not descend from the finalized block ` +
          `${forkChoice.finalized.root}.`,
      );
    }
    const targetRoot = toRootHex(data.target.root);
    const expectedTarget = forkChoice.ancestorAtSlot(blockRoot, computeStartSlotAtEpoch(data.target.epoch));
    if (expectedTarget === undefined) {
      throw ignore(
        "unknown-target",
        `${this.#subject} has a target of epoch ${data.target.epoch}, which is before the oldest block in fork choice.`,
      );
    }
    if (expectedTarget !== targetRoot) {
      throw reject(
        "wrong-target",
        `${this.#subject} has target ${targetRoot}, but the voted block's chain has ${expectedTarget} at epoch ` +
          `${data.target.epoch}.`,
      );
    }
  }

  /** gloas/p2p-interface.md, beacon_attestation: index 1 votes for a payload that must have arrived before. */
  #refusePayloadVote({ slot, index, beaconBlockRoot }: phase0.AttestationData): void {
    if (index === 0) return;
    const { forkChoice } = this.#context;
    const blockRoot = toRootHex(beaconBlockRoot);
    const block = forkChoice.get(blockRoot);
    if (block?.slot === slot) {
      throw reject(
        "wrong-payload-vote",
        `${this.#subject} votes for the payload of block ${blockRoot} of its own slot ${slot}; its data index must be 0.`,
      );
    }
    if (block?.bid === undefined || block.execution.status === "valid") return;
    const vote = `${this.#subject} votes for the payload of block ${blockRoot}`;
    if (block.execution.status === "absent") throw ignore("unknown-payload", `${vote}, which has not arrived.`);
    if (block.execution.status === "invalid") throw reject("invalid-payload", `${vote}, which is invalid.`);
    throw ignore("optimistic-payload", `${vote}, which has not been validated.`);
  }

  #refuseBlockBeforeFinality({ root, slot }: { root: RootHex; slot: Slot }): void {
    const { finalized } = this.#context.forkChoice;
    if (slot > computeStartSlotAtEpoch(finalized.epoch)) return;
    throw ignore(
      "not-descended-from-finalized",
      `${this.#subject} votes for block ${root} of slot ${slot}, which is before the finalized block ${finalized.root} of ` +
        `epoch ${finalized.epoch}.`,
    );
  }
}

/** Returns the committee that attests at the data's slot. */
export function committeeFor(
  { committees, committeesPerSlot }: EpochShuffling,
  data: phase0.AttestationData,
  committeeIndex: number,
  subject: string,
): Uint32Array {
  const committee = committees[data.slot % SLOTS_PER_EPOCH]?.[committeeIndex];
  if (!committee) {
    throw reject(
      "committee-index-out-of-range",
      `${subject} has committee index ${committeeIndex}, but slot ${data.slot} has only ${committeesPerSlot} ` +
        "committees.",
    );
  }
  return committee;
}
