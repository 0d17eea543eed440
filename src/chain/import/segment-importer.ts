import { setImmediate as nextTurn } from "node:timers/promises";
import type { BeaconConfig } from "@lodestar/config";
import type { CachedBeaconStateAllForks, ISignatureSet } from "@lodestar/state-transition";
import type { IndexedAttestation, SignedBeaconBlock } from "@lodestar/types";
import type { BlsVerifier } from "../../bls/verifier.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { Clock } from "../clock/clock.ts";
import type { DataAvailability } from "../data/data-availability.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import type { ForkChoiceExecution } from "../fork-choice/types.ts";
import { advanceToSlot } from "../states/advance.ts";
import type { StateStore } from "../states/state-store.ts";
import { applyBlock, readBlock, signatureSetsOf } from "./apply-block.ts";
import { attributeTo } from "./block-rejection.ts";
import {
  checkAfterParent,
  checkBeforeTransition,
  refuseInvalidPayload,
  requireSignedEpochSkip,
} from "./cheap-checks.ts";
import { type ArrivedBlock, isKnownBlock, linkSegment, mayAddValidators } from "./segment.ts";
import { badSignature, preStateOf, type VerifiedBlock } from "./verify-block.ts";
import type { VerifyPayload } from "./verify-payload.ts";

/** Number of blocks verified and stored together. The light client server must be able to look back this far. */
const BLOCKS_PER_RUN = 32;

export interface ImportedSegment {
  imported: number;
  /** Number of blocks that were already known. */
  known: number;
}

interface SegmentImporterParts {
  config: BeaconConfig;
  clock: Clock;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  states: StateStore;
  data: DataAvailability;
  bls: BlsVerifier;
  verifyPayload: VerifyPayload;
  /** Imports verified blocks. Returns the number of new blocks. */
  commit(run: readonly VerifiedBlock[]): Promise<number>;
}

interface AppliedBlock extends ArrivedBlock {
  state: CachedBeaconStateAllForks;
  indexedAttestations: IndexedAttestation[];
  /** Pending payload verification, which runs after that of all earlier blocks. */
  execution: Promise<ForkChoiceExecution>;
}

/** Blocks that passed the state transition, with pending signature verification. */
interface AppliedRun {
  blocks: AppliedBlock[];
  /** Signature sets of each block. The last entry may belong to a block that failed the transition. */
  signatureSets: ISignatureSet[][];
  signatures: Promise<boolean>;
  failure: { block: ArrivedBlock; error: unknown } | null;
}

/**
 * Imports chain segments during sync, splitting them into runs of blocks. The runs are pipelined: worker threads verify
 * the signatures of one run as a batch while the main thread executes the next run and the execution engine verifies
 * payloads. Each run is stored in one write. Only the commit goes through the chain's queue, so gossip and ticks are
 * not delayed. Calls must not overlap.
 */
export class SegmentImporter {
  readonly #parts: SegmentImporterParts;

  constructor(parts: SegmentImporterParts) {
    this.#parts = parts;
  }

  /**
   * Imports consecutive blocks in order. Throws a `BlockRejection` for the first invalid block. Earlier blocks stay
   * imported, even after an abort.
   */
  async import(
    segment: readonly SignedBeaconBlock[],
    { arrivedAt, signal }: { arrivedAt: number; signal: AbortSignal },
  ): Promise<ImportedSegment> {
    const blocks = await linkSegment(this.#parts.config, segment, arrivedAt);
    const knownCount = await this.#countKnown(blocks);
    let imported = 0;
    let parent: AppliedBlock | undefined;
    let previousRun: Promise<void> = Promise.resolve();
    try {
      for (let next = knownCount; next < blocks.length; ) {
        const run = await this.#apply(blocks.slice(next, next + BLOCKS_PER_RUN), parent, {
          underway: previousRun,
          signal,
        });
        await previousRun;
        signal.throwIfAborted();
        previousRun = this.#finish(run).then((count) => {
          imported += count;
        });
        // Awaited later. Avoids an unhandled rejection in the meantime.
        previousRun.catch(() => undefined);
        if (run.failure) break;
        parent = run.blocks.at(-1);
        next += run.blocks.length;
      }
    } catch (error) {
      // Waits for the previous run, whose error takes precedence.
      await previousRun;
      throw error;
    }
    await previousRun;
    return { imported, known: blocks.length - imported };
  }

  /** Counts the leading blocks that are known and not invalid. */
  async #countKnown(linked: readonly ArrivedBlock[]): Promise<number> {
    const { forkChoice } = this.#parts;
    for (const [index, block] of linked.entries()) {
      if (forkChoice.isInvalid(block.root) || !(await isKnownBlock(block, this.#parts))) return index;
    }
    return linked.length;
  }

  /**
   * Executes a run of consecutive blocks. Stops early at a block that must wait until all earlier ones are known to be
   * valid.
   */
  async #apply(
    run: readonly ArrivedBlock[],
    applied: AppliedBlock | undefined,
    { underway, signal }: { underway: Promise<void>; signal: AbortSignal },
  ): Promise<AppliedRun> {
    const { config, forkChoice } = this.#parts;
    const blocks: AppliedBlock[] = [];
    const signatureSets: ISignatureSet[][] = [];
    let failure: AppliedRun["failure"] = null;
    let parent = applied;
    for (const block of run) {
      signal.throwIfAborted();
      if (parent && mayAddValidators(parent.state, block.signed)) {
        if (blocks.length > 0) break;
        await underway;
      }
      try {
        refuseInvalidPayload(block.root, forkChoice);
        const preState = await this.#preState(block, parent);
        const read = readBlock(config, block.signed, preState);
        signatureSets.push(signatureSetsOf(config, block.signed, preState, read));
        // Sequential: the engine needs a parent before its child. Nothing is sent after a failure.
        const execution = (parent?.execution ?? Promise.resolve()).then(() => {
          signal.throwIfAborted();
          return this.#parts.verifyPayload(block.signed, read);
        });
        execution.catch(() => undefined);
        const state = applyBlock(block.signed, preState);
        parent = { ...block, state, indexedAttestations: read.indexedAttestations, execution };
        blocks.push(parent);
      } catch (error) {
        failure = { block, error };
        break;
      }
      await nextTurn();
    }
    const signatures = this.#parts.bls.verify(signatureSets.flat());
    signatures.catch(() => undefined);
    return { blocks, signatureSets, signatures, failure };
  }

  async #preState({ signed }: ArrivedBlock, parent: AppliedBlock | undefined): Promise<CachedBeaconStateAllForks> {
    const { clock, forkChoice, states } = this.#parts;
    if (parent) {
      checkAfterParent(signed.message, parent.signed.message, clock);
      await requireSignedEpochSkip(signed, parent.signed.message.slot, this.#parts);
      return advanceToSlot(parent.state, signed.message.slot);
    }
    const { slot } = checkBeforeTransition(signed.message, { forkChoice, clock });
    await requireSignedEpochSkip(signed, slot, this.#parts);
    return preStateOf(signed, states);
  }

  /** Commits the valid blocks at the start of a run and throws the error for the first invalid block. */
  async #finish(run: AppliedRun): Promise<number> {
    let { blocks } = run;
    let failure = run.failure;
    const unsigned = (await run.signatures) ? -1 : await this.#findInvalidSignature(run.signatureSets);
    if (unsigned !== -1) {
      const block = blocks[unsigned] ?? run.failure?.block;
      if (block) failure = { block, error: badSignature(block.signed) };
      blocks = blocks.slice(0, unsigned);
    }
    const verified: VerifiedBlock[] = [];
    for (const block of blocks) {
      try {
        // The pool no longer has the data of a block that was imported by other means.
        if (!(await isKnownBlock(block, this.#parts))) this.#parts.data.requireAvailableForBlock(block);
        verified.push({ ...block, execution: await block.execution });
      } catch (error) {
        failure = { block, error };
        break;
      }
    }
    const imported = verified.length > 0 ? await this.#parts.commit(verified) : 0;
    if (failure)
      throw attributeTo(failure.error, { slot: failure.block.signed.message.slot, root: failure.block.root });
    return imported;
  }

  /** Returns the index of the first block with an invalid signature. */
  async #findInvalidSignature(signatureSets: ISignatureSet[][]): Promise<number> {
    const verdicts = await this.#parts.bls.verifyEach(signatureSets.flat());
    let next = 0;
    for (const [index, { length }] of signatureSets.entries()) {
      if (verdicts.slice(next, next + length).includes(false)) return index;
      next += length;
    }
    return -1;
  }
}
