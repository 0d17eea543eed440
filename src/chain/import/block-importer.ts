import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { ExecutionEngine } from "../../execution/engine.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { StateStore } from "../states/state-store.ts";
import type { BlockCommitter } from "./block-committer.ts";
import { blaming } from "./block-rejection.ts";
import { checkBeforeTransition, refuseUnsignedLeap } from "./cheap-checks.ts";
import { preStateOf, verifyBlock } from "./verify-block.ts";

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
  engine: ExecutionEngine;
  committer: BlockCommitter;
}

/**
 * Takes one block onto the chain: cheap checks, state transition and all signatures in one batch, database, fork
 * choice. Calls must not overlap; the chain queues them.
 */
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

  /** Imports a block from outside. Throws a `BlockRejection` and leaves the chain as it was when it is not valid. */
  async import(signed: SignedBeaconBlock, root: RootHex): Promise<ImportedBlock> {
    const { forkChoice, config, bls, engine, committer } = this.#parts;
    if (forkChoice.has(root)) return { root, known: true };
    try {
      const preState = await this.#checkedPreState(signed);
      await committer.commit([await verifyBlock({ signed, root }, preState, { config, bls, engine })]);
    } catch (error) {
      throw blaming(error, { slot: signed.message.slot, root });
    }
    return { root, known: false };
  }

  /** Takes a block of our own database back into fork choice. It was verified when it was stored. */
  async restore(signed: SignedBeaconBlock, root: RootHex): Promise<void> {
    const { config, states, engine, committer } = this.#parts;
    const preState = await preStateOf(signed, states);
    committer.restore(await verifyBlock({ signed, root }, preState, { config, bls: null, engine }));
  }

  async #checkedPreState(signed: SignedBeaconBlock): Promise<CachedBeaconStateAllForks> {
    const { forkChoice, clock, states } = this.#parts;
    const parent = checkBeforeTransition(signed.message, { forkChoice, clock });
    await refuseUnsignedLeap(signed, parent.slot, this.#parts);
    return preStateOf(signed, states);
  }
}
