import type { RootHex } from "@lodestar/types";
import { Revision } from "../../revision.ts";
import { ForkChoiceError } from "../error.ts";
import { BlockTree } from "../tree/block-tree.ts";
import { NO_NODE, type ProtoArray } from "../tree/proto-array.ts";
import {
  type ForkChoiceBlock,
  type ForkChoiceNode,
  isPayloadVerified,
  type PayloadAttestationVotes,
  type VerifiedPayload,
} from "../types.ts";
import { Backoff } from "./backoff.ts";
import {
  markAncestorsInvalid,
  markPayloadInvalid,
  markPayloadValid,
  reinstatePayload,
  setPayload,
} from "./payload-status.ts";
import { type PayloadVote, PayloadVotes } from "./payload-votes.ts";

/** Block tree with the verdicts on execution payloads (sync/optimistic.md) and the votes on them (gloas). */
export abstract class PayloadTree extends BlockTree {
  /** Raised on every change. Votes only count once the head is updated. */
  readonly revision = new Revision();
  /** Backoff for retrying invalid payloads with the execution engine, whether or not their blocks are in the tree. */
  readonly retryBackoff = new Backoff();
  protected readonly payloadVotes: PayloadVotes;

  protected constructor(tree: ProtoArray, { slotsPerEpoch, ptcSize }: { slotsPerEpoch: number; ptcSize: number }) {
    super(tree, slotsPerEpoch);
    this.payloadVotes = new PayloadVotes(ptcSize);
  }

  abstract get proposerBoostRoot(): RootHex | null;

  /**
   * gloas/fork-choice.md, on_execution_payload_envelope, after the verification. The block becomes full, unless its
   * payload is built on an invalid one. Ignores payloads that are known already.
   */
  onPayload(root: RootHex, payload: VerifiedPayload): void {
    setPayload(this.tree, this.#indexOf(root), payload);
    this.revision.raise();
  }

  /**
   * gloas/fork-choice.md, on_payload_attestation_message, after validation: records the votes of committee members.
   * Ignores votes for blocks that are not in the tree or not of the votes' slot.
   */
  onPayloadAttestation(votes: PayloadAttestationVotes): void {
    if (this.get(votes.blockRoot)?.slot === votes.slot) this.payloadVotes.record(votes);
  }

  /** is_payload_verified: true if the block's own payload has been delivered and is not invalid. */
  isPayloadVerified(root: RootHex): boolean {
    const block = this.get(root);
    return block !== undefined && isPayloadVerified(block);
  }

  /** payload_timeliness: true if the payload counts as timely, or as late if `timely` is false. */
  payloadTimeliness(root: RootHex, timely: boolean): boolean {
    return this.#agreesOnPayload(root, "payloadPresent", timely);
  }

  /** payload_data_availability: true if the blob data counts as available, or as missing if `available` is false. */
  payloadDataAvailability(root: RootHex, available: boolean): boolean {
    return this.#agreesOnPayload(root, "blobDataAvailable", available);
  }

  /** Returns the vote of each committee position; null for positions without a vote. */
  payloadVotesOf(root: RootHex, about: PayloadVote): (boolean | null)[] {
    return this.payloadVotes.votesOf(root, about);
  }

  /** should_extend_payload, for a block of the previous slot. */
  shouldExtendPayload(root: RootHex): boolean {
    if (!this.isPayloadVerified(root)) return false;
    if (this.payloadTimeliness(root, true) && this.payloadDataAvailability(root, true)) return true;
    const boosted = this.proposerBoostRoot === null ? undefined : this.get(this.proposerBoostRoot);
    return boosted === undefined || boosted.parentRoot !== root || this.parentPayloadStatus(boosted.root) === "full";
  }

  /** should_build_on_full: whether a proposer of the slot builds on the payload of the node's block. */
  shouldBuildOnFull({ root, payloadStatus }: ForkChoiceNode, slot: number): boolean {
    const block = this.get(root);
    if (block?.bid === undefined || block.slot + 1 !== slot) return payloadStatus === "full";
    if (payloadStatus === "empty") return false;
    return !this.payloadTimeliness(root, false) && !this.payloadDataAvailability(root, false);
  }

  /** Applies a VALID verdict from the execution engine. Ignores unknown hashes. */
  onValidPayload(blockHash: RootHex): void {
    const indices: number[] = [];
    this.tree.nodes.forEach(({ block: { execution } }, index) => {
      if ("blockHash" in execution && execution.blockHash === blockHash) indices.push(index);
    });
    markPayloadValid(this.tree, indices);
    this.revision.raise();
  }

  /**
   * Applies an INVALID verdict to the payload of a block in the tree. Since gloas, the block itself stays valid. Returns
   * the finalized or valid block that the verdict contradicts, if any; such a block keeps its status.
   */
  onInvalidPayload(blockRoot: RootHex, latestValidHash: RootHex | null): ForkChoiceBlock | null {
    const invalid = { latestValidHash, finalizedRoot: this.finalized.root };
    const contradicted = markPayloadInvalid(this.tree, this.#indexOf(blockRoot), invalid);
    this.#noteFallen();
    this.revision.raise();
    return contradicted;
  }

  /**
   * Applies an INVALID verdict to a block that was not imported. Can invalidate ancestors of the block, along with
   * other descendants of those ancestors.
   */
  onRejectedPayload(
    { root, parentRoot }: { root: RootHex; parentRoot: RootHex },
    latestValidHash: RootHex | null,
  ): ForkChoiceBlock | null {
    this.retryBackoff.schedule(root, this.currentSlot);
    const parent = this.tree.indexOf(parentRoot);
    const invalid = { latestValidHash, finalizedRoot: this.finalized.root };
    const contradicted = markAncestorsInvalid(this.tree, parent, invalid);
    this.#noteFallen();
    this.revision.raise();
    return contradicted;
  }

  /** Reinstates a payload that the execution engine once rejected but now finds valid, along with all its ancestors. */
  onReinstatedPayload(root: RootHex): void {
    reinstatePayload(this.tree, this.tree.indexOf(root));
    this.revision.raise();
  }

  /** Returns true if a payload on the block's chain is invalid, or that of a block that was not imported. */
  isInvalid(root: RootHex): boolean {
    return this.has(root) ? this.isInvalidBlock(root) : this.retryBackoff.has(root);
  }

  /** Starts the backoff for branch roots that were invalidated indirectly. */
  #noteFallen(): void {
    for (const { root } of this.invalidBranchRoots()) {
      if (!this.retryBackoff.has(root)) this.retryBackoff.schedule(root, this.currentSlot);
    }
  }

  #agreesOnPayload(root: RootHex, about: PayloadVote, value: boolean): boolean {
    // Without the payload, the votes of others do not matter.
    return this.isPayloadVerified(root) ? this.payloadVotes.hasMajority(root, about, value) : !value;
  }

  #indexOf(root: RootHex): number {
    const index = this.tree.indexOf(root);
    if (index !== NO_NODE) return index;
    throw new ForkChoiceError("unknown-block", `Block ${root} of the payload is not in the tree.`);
  }
}
