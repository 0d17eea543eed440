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

/** What is the same for all attestations with the same data. */
interface CheckedAttestationData {
  dataRoot: RootHex;
  signingRoot: Uint8Array;
  /** The committees of the target's epoch. */
  shuffling: EpochShuffling;
}

/**
 * The rules about what is attested to, shared by single attestations and aggregates. Most of those of a slot have
 * the same data, so the verdict on each data is reached once.
 */
export class AttestationDataRules {
  readonly #context: ValidationContext;
  /** How a message names the kind of attestation, at the beginning of a sentence. */
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
        `${this.#subject} is of slot ${data.slot} in epoch ${epoch}, but its target is of epoch ${data.target.epoch}.`,
      );
    }
    if (config.getForkSeq(data.slot) >= ForkSeq.electra && data.index !== 0) {
      throw reject(
        "data-index-not-zero",
        `${this.#subject} has the data index ${data.index}; since Electra it has to be 0.`,
      );
    }
    await this.#refuseUnfitBlock(data);
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
    // Whoever follows optimistically passes such votes on in good faith.
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
          `${this.#subject} votes for block ${blockRoot}, which breaks the rules of consensus, or builds on a block that does.`,
        );
      }
      // Fork choice has let go of what is final; a block above that may be on its way in.
      const stored = await blocks.link(blockRoot);
      if (stored) this.#refuseBlockBeforeFinality({ root: blockRoot, slot: stored.slot });
      throw ignore("unknown-block", `${this.#subject} votes for block ${blockRoot}, which is not known.`);
    }
    // validate_on_attestation of fork-choice.md. The rules of the topics do not have it, so nobody is blamed for passing on
    // such a vote.
    if (block.slot > data.slot) {
      throw ignore(
        "block-after-vote",
        `${this.#subject} is of slot ${data.slot}, but the block it votes for is of the later slot ${block.slot}.`,
      );
    }
    // Not in the specification, but other clients do the same: nothing of the vote is verified yet, and for each such block a
    // state of its own would have to be advanced. That of the head is advanced anyhow, and what was the head at the slot of the vote
    // has the same committees: a chain that stood still has to go on.
    const isTooOld = computeEpochAtSlot(block.slot) + 1 < data.target.epoch;
    if (isTooOld && blockRoot !== forkChoice.canonicalAtSlot(data.slot)?.root) {
      throw ignore(
        "block-too-old",
        `${this.#subject} of epoch ${data.target.epoch} votes for block ${blockRoot} of slot ${block.slot}, which is neither of ` +
          "that epoch nor of the one before, nor was it the head then.",
      );
    }
    if (!forkChoice.isDescendantOfFinalized(blockRoot)) {
      this.#refuseBlockBeforeFinality(block);
      throw ignore(
        "not-descended-from-finalized",
        `${this.#subject} votes for block ${blockRoot}, which does not descend from the finalized block ${forkChoice.finalized.root}.`,
      );
    }
    const targetRoot = toRootHex(data.target.root);
    const expectedTarget = forkChoice.ancestorAtSlot(blockRoot, computeStartSlotAtEpoch(data.target.epoch));
    if (expectedTarget === undefined) {
      throw ignore(
        "unknown-target",
        `${this.#subject} has a target of epoch ${data.target.epoch}, which is before the blocks still held.`,
      );
    }
    if (expectedTarget !== targetRoot) {
      throw reject(
        "wrong-target",
        `${this.#subject} has the target ${targetRoot}, but the branch of the block it votes for has ${expectedTarget} at epoch ${data.target.epoch}.`,
      );
    }
  }

  #refuseBlockBeforeFinality({ root, slot }: { root: RootHex; slot: Slot }): void {
    const { finalized } = this.#context.forkChoice;
    if (slot > computeStartSlotAtEpoch(finalized.epoch)) return;
    throw ignore(
      "not-descended-from-finalized",
      `${this.#subject} votes for block ${root} of slot ${slot}, which lies before the finalized block ${finalized.root} of ` +
        `epoch ${finalized.epoch}: it is too late for votes for it.`,
    );
  }
}

/** The committee that attests at the slot of the data. */
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
      `${subject} names committee ${committeeIndex} of slot ${data.slot}, which has ${committeesPerSlot}, counted from 0.`,
    );
  }
  return committee;
}
