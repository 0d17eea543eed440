import type { BeaconConfig } from "@lodestar/config";
import type { RootHex, SignedBeaconBlock } from "@lodestar/types";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { ExecutionEngine } from "../../execution/engine.ts";
import type { Clock } from "../clock/clock.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { StateStore } from "../states/state-store.ts";
import type { BlockCommitter } from "./block-committer.ts";
import { blaming } from "./block-rejection.ts";
import { checkBeforeTransition, refuseUnsignedLeap } from "./cheap-checks.ts";
import type { ArrivedBlock } from "./segment.ts";
import { preStateOf, type VerifiedBlock, verifyBlock } from "./verify-block.ts";

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

  /** ImportQueue a block from outside. Throws a `BlockRejection` and leaves the chain as it was when it is not valid. */
  async import(block: ArrivedBlock): Promise<ImportedBlock> {
    const { signed, root } = block;
    const { forkChoice, clock, committer } = this.#parts;
    if (forkChoice.has(root)) return { root, known: true };
    try {
      const parent = checkBeforeTransition(signed.message, { forkChoice, clock });
      await refuseUnsignedLeap(signed, parent.slot, this.#parts);
      await committer.commit([await this.#verify(block, { verifySignatures: true })]);
    } catch (error) {
      throw blaming(error, { slot: signed.message.slot, root });
    }
    return { root, known: false };
  }

  /** Takes a block of our own database back into fork choice. It was verified when it was stored. */
  async restore(signed: SignedBeaconBlock, root: RootHex): Promise<void> {
    // When it came is not known any more: it counts as late.
    const block = { signed, root, arrivedAt: Number.POSITIVE_INFINITY };
    this.#parts.committer.addToForkChoice(await this.#verify(block, { verifySignatures: false }));
  }

  async #verify(block: ArrivedBlock, { verifySignatures }: { verifySignatures: boolean }): Promise<VerifiedBlock> {
    const { config, states, bls, engine } = this.#parts;
    const preState = await preStateOf(block.signed, states);
    return verifyBlock(block, preState, { config, bls: verifySignatures ? bls : null, engine });
  }
}
