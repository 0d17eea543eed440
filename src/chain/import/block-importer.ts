import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { StateStore } from "../states/state-store.ts";
import type { BlockCommitter } from "./block-committer.ts";
import { blaming } from "./block-rejection.ts";
import { checkBeforeTransition, refuseInvalidPayload, refuseUnsignedLeap } from "./cheap-checks.ts";
import type { ArrivedBlock } from "./segment.ts";
import { preStateOf, type VerifiedBlock, verifyBlock } from "./verify-block.ts";
import type { VerifyPayload } from "./verify-payload.ts";

export interface ImportedBlock {
  root: RootHex;
  /** The node had this block already; nothing was done. */
  known: boolean;
}

interface BlockImporterParts {
  config: BeaconConfig;
  clock: Clock;
  forkChoice: ForkChoice;
  states: StateStore;
  bls: BlsVerifier;
  verifyPayload: VerifyPayload;
  /** The state after a block of that root, if this node has produced it lately. */
  producedState(root: RootHex): CachedBeaconStateAllForks | undefined;
  committer: BlockCommitter;
}

/** Verifies one block, by cheap checks, state transition, all signatures in one batch and the execution engine; and restores those of the database. */
export class BlockImporter {
  readonly #parts: BlockImporterParts;

  constructor(parts: BlockImporterParts) {
    this.#parts = parts;
  }

  /**
   * Regenerates the state before a block when it is not at hand, as for a block on an old branch. That may take long and
   * changes nothing, so it comes before the block's turn in the queue.
   */
  async prepare(signed: SignedBeaconBlock, root: RootHex): Promise<void> {
    const { forkChoice, states } = this.#parts;
    const { slot, parentRoot } = signed.message;
    const parent = toRootHex(parentRoot);
    if (forkChoice.has(root) || !forkChoice.has(parent) || states.isAtHand(parent, slot)) return;
    try {
      await this.#checkedPreState(signed);
    } catch (error) {
      throw blaming(error, { slot, root });
    }
  }

  /** Verifies a block from outside, which may take as long as the execution engine is asked. Null when the chain has it already. */
  async verify(block: ArrivedBlock): Promise<VerifiedBlock | null> {
    const { signed, root } = block;
    const { forkChoice } = this.#parts;
    try {
      refuseInvalidPayload(root, forkChoice);
      if (forkChoice.has(root)) return null;
      const producedState = this.#parts.producedState(root);
      return await verifyBlock(block, await this.#checkedPreState(signed), { ...this.#parts, producedState });
    } catch (error) {
      throw blaming(error, { slot: signed.message.slot, root });
    }
  }

  /** The same for a block that this node has produced and signed itself, of which the payload alone is to be verified. */
  async verifyOwn(block: ArrivedBlock, producedState: CachedBeaconStateAllForks): Promise<VerifiedBlock | null> {
    const { signed, root } = block;
    const { config, forkChoice, clock, states, verifyPayload } = this.#parts;
    try {
      if (forkChoice.has(root)) return null;
      checkBeforeTransition(signed.message, { forkChoice, clock });
      const preState = await preStateOf(signed, states);
      return await verifyBlock(block, preState, { config, bls: null, verifyPayload, producedState });
    } catch (error) {
      throw blaming(error, { slot: signed.message.slot, root });
    }
  }

  /**
   * Takes a block of our own database back into fork choice. Its signatures were verified before it was stored. Throws a
   * `BlockRejection` when the block does not fit the chain any more.
   *
   * Fork choice is taken to the block's slot, not to the present: the present would justify and finalize more than was
   * final when the block came, and leave out what was good then.
   */
  async restore(signed: SignedBeaconBlock, root: RootHex, verifyPayload: VerifyPayload): Promise<void> {
    const { config, forkChoice, states, committer } = this.#parts;
    forkChoice.onTick(signed.message.slot);
    checkBeforeTransition(signed.message, { forkChoice, clock: forkChoice });
    const preState = await preStateOf(signed, states);
    const verifiers = { config, bls: null, verifyPayload };
    // When it came is not known any more: it counts as late.
    const block = { signed, root, arrivedAt: Number.POSITIVE_INFINITY };
    committer.restore(await verifyBlock(block, preState, verifiers));
  }

  async #checkedPreState(signed: SignedBeaconBlock): Promise<CachedBeaconStateAllForks> {
    const { forkChoice, clock, states } = this.#parts;
    const parent = checkBeforeTransition(signed.message, { forkChoice, clock });
    await refuseUnsignedLeap(signed, parent.slot, this.#parts);
    return preStateOf(signed, states);
  }
}
