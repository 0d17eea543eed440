import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH, SLOTS_PER_HISTORICAL_ROOT } from "@lodestar/params";
import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { DataSidecar } from "../../data/sidecar.ts";
import type { BeaconDb, BeaconDbBatch } from "../../db/beacon-db.ts";
import { describeValueFault } from "../../ssz/value-fault.ts";
import { deserializeSignedBlock, serializeSignedBlock } from "../blocks/block-encoding.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { Clock } from "../clock/clock.ts";
import { attestationDueShare, payloadAttestationDueShare, timeInSlot } from "../clock/slot-timing.ts";
import type { DataAvailability } from "../data/data-availability.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { withPayloadStatus } from "../fork-choice/payloads/payload-status.ts";
import { putForkChoiceBlock } from "../fork-choice/stored-fork-choice.ts";
import type { BlockArrival, ForkChoiceBlock } from "../fork-choice/types.ts";
import { hasEnvelope } from "../payloads/new-payload.ts";
import type { StateStore } from "../states/state-store.ts";
import { attributeTo, BlockRejection } from "./block-rejection.ts";
import { checkBeforeTransition } from "./cheap-checks.ts";
import { applyBlockAttestations, toForkChoiceBlock } from "./fork-choice-import.ts";
import type { VerifiedBlock } from "./verify-block.ts";

interface BlockToCommit {
  verified: VerifiedBlock;
  block: ForkChoiceBlock;
}

export interface BlockCommitterParts {
  config: BeaconConfig;
  db: BeaconDb;
  clock: Clock;
  forkChoice: ForkChoice;
  blocks: BlockStore;
  states: StateStore;
  data: DataAvailability;
}

/**
 * Adds verified blocks to the chain. Writes the database before fork choice, so that a crash loses nothing the node has
 * built on. Calls must not overlap; the chain queues them.
 */
export class BlockCommitter {
  readonly #parts: BlockCommitterParts;

  constructor(parts: BlockCommitterParts) {
    this.#parts = parts;
  }

  /**
   * Commits a run of consecutive blocks in one database write. Throws a `BlockRejection` if finality has passed the
   * blocks, if the pool has evicted their data, or if a block cannot be encoded.
   */
  async commit(run: readonly VerifiedBlock[]): Promise<void> {
    const first = run[0];
    if (!first) return;
    const { db, forkChoice, data } = this.#parts;
    const parent = this.#requireFit(first);
    for (const block of run) data.requireAvailableForBlock(block);
    // Since gloas, the sidecars are stored with the payload.
    const withData = run.filter(({ signed }) => !hasEnvelope(this.#parts.config, signed.message.slot));
    const sidecarsByRoot = new Map(withData.map(({ root }) => [root, data.pool.all(root)]));
    const encoded = run.map((block) => encode(this.#parts.config, block));
    const batch = db.batch();
    const blocks = this.#withJointStatus(
      run.map((verified) => ({ verified, block: toForkChoiceBlock(verified) })),
      parent,
    );
    if (blocks[0]?.block.execution.status === "valid") {
      for (const ancestor of forkChoice.optimisticAncestors(parent.root)) {
        if (forkChoice.isHot(ancestor)) putForkChoiceBlock(batch, withPayloadStatus(ancestor, "valid"));
      }
    }
    let previous = parent;
    for (const [index, { verified, block }] of blocks.entries()) {
      batch.blocks.put(block.root, encoded[index]!);
      this.#index(batch, verified, { block, parent: previous });
      await data.store(batch, block, sidecarsByRoot.get(block.root) ?? []);
      verified.extraWrites?.(batch);
      previous = block;
    }
    await batch.write();
    try {
      this.#requireFit(first);
    } catch (error) {
      await this.#orphan(run, sidecarsByRoot);
      throw error;
    }
    for (const { verified, block } of blocks) {
      forkChoice.onBlock(block, this.#arrivalOf(verified));
      this.#added(verified);
      const stored = sidecarsByRoot.get(block.root);
      if (stored) data.pool.delete(block.root, stored);
    }
  }

  /**
   * A valid payload implies valid ancestors, as in fork choice. Exception: if the unverified chain starts at the merge
   * transition block, its terminal block must be checked first, which happens with the next forkchoice update.
   */
  #withJointStatus(run: readonly BlockToCommit[], parent: ForkChoiceBlock): BlockToCommit[] {
    const { forkChoice } = this.#parts;
    const chain = [...forkChoice.optimisticAncestors(parent.root).reverse(), ...run.map(({ block }) => block)];
    const oldest = chain.findIndex(({ execution }) => execution.status === "optimistic");
    const beforeOldest = chain[oldest - 1] ?? forkChoice.get(chain[oldest]?.parentRoot ?? "");
    const isMergeUnjudged = beforeOldest?.execution.status === "pre-merge";
    const lastValid = run.findLastIndex(({ block }) => block.execution.status === "valid");
    const status = isMergeUnjudged ? "optimistic" : "valid";
    return run.map(({ verified, block }, index) => ({
      verified,
      block: index <= lastValid ? withPayloadStatus(block, status) : block,
    }));
  }

  /**
   * Checks again that the first block fits the chain, because a tick during verification or the write can finalize a
   * checkpoint. The other blocks descend from the first one.
   */
  #requireFit({ signed, root }: VerifiedBlock): ForkChoiceBlock {
    const { forkChoice, clock } = this.#parts;
    // Slots may be announced late if the process is busy.
    forkChoice.onTick(clock.currentSlot);
    try {
      return checkBeforeTransition(signed.message, this.#parts);
    } catch (error) {
      throw attributeTo(error, { slot: signed.message.slot, root });
    }
  }

  /** Stores blocks as orphaned, without their data and without adding them to fork choice. */
  async #orphan(run: readonly VerifiedBlock[], stored: ReadonlyMap<RootHex, readonly DataSidecar[]>): Promise<void> {
    const batch = this.#parts.db.batch();
    for (const { signed, root } of run) {
      const { slot } = signed.message;
      batch.hotBlocks.delete(slot, root);
      const indices = stored.get(root)?.map(({ index }) => index) ?? [];
      batch.data.delete({ slot, root }, indices);
    }
    await batch.write();
  }

  /** Adds a block from the database to fork choice. */
  restore(verified: VerifiedBlock): void {
    this.#parts.forkChoice.restoreBlock(toForkChoiceBlock(verified));
    this.#added(verified);
  }

  /** Caches a block that is in fork choice and counts the block's votes. */
  #added({ signed, root, state, indexedAttestations }: VerifiedBlock): void {
    const { forkChoice, blocks, states } = this.#parts;
    blocks.cache(root, signed);
    states.hold(root, state);
    applyBlockAttestations(forkChoice, signed.message, indexedAttestations, state);
  }

  /** record_block_timeliness (fork-choice.md): only a block that arrived in its slot is timely. */
  #arrivalOf({ signed, arrivedAt, state }: VerifiedBlock): BlockArrival {
    const { clock, config } = this.#parts;
    const { slot } = signed.message;
    return {
      timely: arrivedAt < timeInSlot(clock, slot, attestationDueShare(config, slot)),
      ptcTimely: arrivedAt < timeInSlot(clock, slot, payloadAttestationDueShare(config)),
      committees: () => state.epochCtx.getShufflingAtSlot(slot).committees[slot % SLOTS_PER_EPOCH] ?? [],
    };
  }

  #index(
    batch: BeaconDbBatch,
    { state }: VerifiedBlock,
    { block, parent }: { block: ForkChoiceBlock; parent: ForkChoiceBlock },
  ): void {
    const { slot, root, stateRoot } = block;
    putForkChoiceBlock(batch, block);
    batch.stateIndex.put(stateRoot, { slot, blockRoot: root });
    // Index the states of the empty slots between the parent and this block.
    for (let empty = Math.max(parent.slot + 1, slot - SLOTS_PER_HISTORICAL_ROOT); empty < slot; empty++) {
      const emptySlotRoot = state.stateRoots.get(empty % SLOTS_PER_HISTORICAL_ROOT);
      batch.stateIndex.put(toRootHex(emptySlotRoot), { slot: empty, blockRoot: parent.root });
    }
  }
}

/**
 * Encodes a block and decodes it again, because a block that cannot be decoded would be lost. Throws a `BlockRejection`
 * that names the faulty part.
 */
function encode(config: BeaconConfig, { signed, root }: VerifiedBlock): Uint8Array {
  const { slot } = signed.message;
  const bytes = serializeSignedBlock(config, signed);
  try {
    deserializeSignedBlock(config, bytes);
    return bytes;
  } catch (error) {
    const fault = describeValueFault(config.getForkTypes(slot).SignedBeaconBlock, signed) ?? String(error);
    const message = `The block at slot ${slot} cannot be encoded: ${fault}.`;
    throw attributeTo(new BlockRejection("invalid-transition", message, error), { slot, root });
  }
}
