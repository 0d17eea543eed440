import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { StateStore } from "../states/state-store.ts";
import type { ValidatedBlock } from "../validation/block.ts";
import type { BlockCommitter } from "./block-committer.ts";
import { attributeTo } from "./block-rejection.ts";
import { checkBeforeTransition, refuseInvalidPayload, requireSignedEpochSkip } from "./cheap-checks.ts";
import type { ArrivedBlock } from "./segment.ts";
import { preStateOf, type VerifiedBlock, verifyBlock } from "./verify-block.ts";
import type { VerifyPayload } from "./verify-payload.ts";

export interface ImportedBlock {
  root: RootHex;
  /** True if the block was already known. */
  known: boolean;
}

interface BlockImporterParts {
  config: BeaconConfig;
  clock: Clock;
  forkChoice: ForkChoice;
  states: StateStore;
  bls: BlsVerifier;
  verifyPayload: VerifyPayload;
  /** Post-state of a block recently produced by this node. */
  producedState(root: RootHex): CachedBeaconStateAllForks | undefined;
  committer: BlockCommitter;
}

/**
 * Verifies single blocks: cheap checks, state transition, batched signatures and the execution payload. Also restores
 * blocks from the database.
 */
export class BlockImporter {
  readonly #parts: BlockImporterParts;

  constructor(parts: BlockImporterParts) {
    this.#parts = parts;
  }

  /**
   * Regenerates the pre-state if it is not cached, for example for an old branch. Runs outside the queue, because this
   * can take a long time and changes nothing.
   */
  async prepare(signed: SignedBeaconBlock, root: RootHex): Promise<void> {
    const { forkChoice, states } = this.#parts;
    const { slot, parentRoot } = signed.message;
    const parent = toRootHex(parentRoot);
    if (forkChoice.has(root) || !forkChoice.has(parent) || states.needsNoReplay(parent, slot)) return;
    try {
      await this.#checkedPreState(signed);
    } catch (error) {
      throw attributeTo(error, { slot, root });
    }
  }

  /**
   * Verifies a received block, except for checks already done by gossip validation. Waits for the execution engine.
   * Returns null if the block is already known.
   */
  async verify(block: ArrivedBlock, validated?: ValidatedBlock): Promise<VerifiedBlock | null> {
    const { signed, root } = block;
    const { forkChoice } = this.#parts;
    try {
      refuseInvalidPayload(root, forkChoice);
      if (forkChoice.has(root)) return null;
      const producedState = this.#parts.producedState(root);
      const preState = await this.#checkedPreState(signed, validated);
      return await verifyBlock(block, preState, { ...this.#parts, producedState, validated });
    } catch (error) {
      throw attributeTo(error, { slot: signed.message.slot, root });
    }
  }

  /** Verifies a block produced and signed by this node: only the cheap checks and the payload. */
  async verifyOwn(block: ArrivedBlock, producedState: CachedBeaconStateAllForks): Promise<VerifiedBlock | null> {
    const { signed, root } = block;
    const { config, forkChoice, clock, states, verifyPayload } = this.#parts;
    try {
      if (forkChoice.has(root)) return null;
      checkBeforeTransition(signed.message, { forkChoice, clock });
      const preState = await preStateOf(signed, states);
      return await verifyBlock(block, preState, { config, bls: null, verifyPayload, producedState });
    } catch (error) {
      throw attributeTo(error, { slot: signed.message.slot, root });
    }
  }

  /**
   * Restores a block from the database to fork choice. Its signatures were verified before it was stored. Throws a
   * `BlockRejection` if it no longer fits the chain.
   *
   * Ticks fork choice to the block's slot only, because a later slot could finalize a later checkpoint and exclude the
   * block.
   */
  async restore(signed: SignedBeaconBlock, root: RootHex, verifyPayload: VerifyPayload): Promise<void> {
    const { config, forkChoice, states, committer } = this.#parts;
    forkChoice.onTick(signed.message.slot);
    checkBeforeTransition(signed.message, { forkChoice, clock: forkChoice });
    const preState = await preStateOf(signed, states);
    const verifiers = { config, bls: null, verifyPayload };
    // The arrival time is unknown, so the block counts as late.
    const block = { signed, root, arrivedAt: Number.POSITIVE_INFINITY };
    committer.restore(await verifyBlock(block, preState, verifiers));
  }

  async #checkedPreState(signed: SignedBeaconBlock, validated?: ValidatedBlock): Promise<CachedBeaconStateAllForks> {
    const { forkChoice, clock, states } = this.#parts;
    const parent = checkBeforeTransition(signed.message, { forkChoice, clock });
    if (validated) return validated.preState;
    await requireSignedEpochSkip(signed, parent.slot, this.#parts);
    return preStateOf(signed, states);
  }
}
