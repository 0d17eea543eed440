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
import { blaming } from "./block-rejection.ts";
import { checkAfterParent, checkBeforeTransition, refuseInvalidPayload, refuseUnsignedLeap } from "./cheap-checks.ts";
import { type ArrivedBlock, isKnownBlock, linkSegment, mayAddValidators } from "./segment.ts";
import { badSignature, preStateOf, type VerifiedBlock } from "./verify-block.ts";
import type { VerifyPayload } from "./verify-payload.ts";

/** How many blocks are verified and stored together. The light client server looks at no more behind a new head. */
const BLOCKS_PER_RUN = 32;

export interface ImportedSegment {
  imported: number;
  /** How many of the blocks the node had already. */
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
  /** Takes verified blocks onto the chain; tells how many of them were new to it. */
  commit(run: readonly VerifiedBlock[]): Promise<number>;
}

interface AppliedBlock extends ArrivedBlock {
  state: CachedBeaconStateAllForks;
  indexedAttestations: IndexedAttestation[];
  /** Under way, after those of all blocks before it. */
  execution: Promise<ForkChoiceExecution>;
}

/** Blocks that went through the state transition, with the verdict on their signatures under way. */
interface AppliedRun {
  blocks: AppliedBlock[];
  /** Those of each block; the last ones may belong to a block that failed in the transition. */
  signatureSets: ISignatureSet[][];
  signatures: Promise<boolean>;
  failure: { block: ArrivedBlock; error: unknown } | null;
}

/**
 * Takes many blocks of one chain onto ours, as syncing has them, in runs: all signatures of a run are verified in one batch
 * by the threads, while the main thread is at the state transitions of the next run and the execution engine at the payloads; a
 * run is stored in one write, and fork choice decides once. All of that but the taking in of a run happens outside the chain's queue, so
 * that gossip and ticks never wait for long. Calls must not overlap.
 */
export class SegmentImporter {
  readonly #parts: SegmentImporterParts;

  constructor(parts: SegmentImporterParts) {
    this.#parts = parts;
  }

  /**
   * The blocks have to be in order, each the child of the one before. Throws a `BlockRejection` that names the first
   * block which is not valid; the blocks before it stay imported. So do those taken in before the signal.
   */
  async import(
    segment: readonly SignedBeaconBlock[],
    { arrivedAt, signal }: { arrivedAt: number; signal: AbortSignal },
  ): Promise<ImportedSegment> {
    const linked = await linkSegment(this.#parts.config, segment, arrivedAt);
    const known = await this.#countKnown(linked);
    let imported = 0;
    let parent: AppliedBlock | undefined;
    let underway: Promise<void> = Promise.resolve();
    try {
      for (let next = known; next < linked.length; ) {
        const run = await this.#apply(linked.slice(next, next + BLOCKS_PER_RUN), parent, { underway, signal });
        await underway;
        signal.throwIfAborted();
        underway = this.#finish(run).then((count) => {
          imported += count;
        });
        // It is awaited later; until then its failure is not one that nobody cares for.
        underway.catch(() => undefined);
        if (run.failure) break;
        parent = run.blocks.at(-1);
        next += run.blocks.length;
      }
    } catch (error) {
      // Nothing goes on after the answer, and a failure of the blocks before is the one that counts.
      await underway;
      throw error;
    }
    await underway;
    return { imported, known: linked.length - imported };
  }

  /** The blocks before the first that the chain lacks, or holds to be invalid. */
  async #countKnown(linked: readonly ArrivedBlock[]): Promise<number> {
    const { forkChoice } = this.#parts;
    for (const [index, block] of linked.entries()) {
      if (forkChoice.isInvalid(block.root) || !(await isKnownBlock(block, this.#parts))) return index;
    }
    return linked.length;
  }

  /** Applies as many of the blocks as can be before those that came before are known to be valid. */
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
        // In order, as the execution engine cannot tell of a payload before its parent; and none after one that fails.
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
      await refuseUnsignedLeap(signed, parent.signed.message.slot, this.#parts);
      return advanceToSlot(parent.state, signed.message.slot);
    }
    const { slot } = checkBeforeTransition(signed.message, { forkChoice, clock });
    await refuseUnsignedLeap(signed, slot, this.#parts);
    return preStateOf(signed, states);
  }

  /** Takes in what is valid of a run, and throws what is wrong with the block after that. */
  async #finish(run: AppliedRun): Promise<number> {
    let { blocks } = run;
    let failure = run.failure;
    const unsigned = (await run.signatures) ? -1 : await this.#firstUnsigned(run.signatureSets);
    if (unsigned !== -1) {
      const block = blocks[unsigned] ?? run.failure?.block;
      if (block) failure = { block, error: badSignature(block.signed) };
      blocks = blocks.slice(0, unsigned);
    }
    const verified: VerifiedBlock[] = [];
    for (const block of blocks) {
      try {
        // What came another way meanwhile has left the pool.
        if (!(await isKnownBlock(block, this.#parts))) this.#parts.data.requireAvailable(block);
        verified.push({ ...block, execution: await block.execution });
      } catch (error) {
        failure = { block, error };
        break;
      }
    }
    const imported = verified.length > 0 ? await this.#parts.commit(verified) : 0;
    if (failure) throw blaming(failure.error, { slot: failure.block.signed.message.slot, root: failure.block.root });
    return imported;
  }

  /** The index of the first block that has a bad signature. */
  async #firstUnsigned(signatureSets: ISignatureSet[][]): Promise<number> {
    const verdicts = await this.#parts.bls.verifyEach(signatureSets.flat());
    let next = 0;
    for (const [index, { length }] of signatureSets.entries()) {
      if (verdicts.slice(next, next + length).includes(false)) return index;
      next += length;
    }
    return -1;
  }
}
