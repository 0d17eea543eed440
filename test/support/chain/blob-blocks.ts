import { BYTES_PER_FIELD_ELEMENT, CELLS_PER_EXT_BLOB, FIELD_ELEMENTS_PER_BLOB, type ForkName } from "@lodestar/params";
import type { electra, RootHex, Slot } from "@lodestar/types";
import { onTestFinished, vi } from "vitest";
import { blobSidecarsOf } from "../../../src/data/blob-sidecars.ts";
import { columnFrameOf, columnSidecarsOf } from "../../../src/data/column-sidecars.ts";
import type { HeaderSidecar } from "../../../src/data/sidecar.ts";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { DevExecutionEngine } from "../../../src/execution/dev-engine.ts";
import { ByHand, type HandMadeBlock } from "./by-hand.ts";

const BLOB_BYTES = BYTES_PER_FIELD_ELEMENT * FIELD_ELEMENTS_PER_BLOB;
const CELL_BYTES = (2 * BLOB_BYTES) / CELLS_PER_EXT_BLOB;
const POINT_BYTES = 48;

/** Valid block with commitments and all its sidecars, without real blobs. */
export interface BlockWithCommitments extends HandMadeBlock {
  slot: Slot;
  sidecars: HeaderSidecar[];
}

interface Making {
  slot: Slot;
  parentRoot: RootHex;
  blobs?: number;
  /** Distinguishes blocks of one slot and parent. */
  mark?: number;
}

/** Creates blocks with blob commitments, which the chain's engine accepts until the end of the test. */
export class BlobBlocks {
  readonly #devChain: DevChain;
  readonly #byHand: ByHand;

  constructor(devChain: DevChain) {
    this.#devChain = devChain;
    this.#byHand = new ByHand(devChain);
    const engine = vi.spyOn(DevExecutionEngine.prototype, "notifyNewPayload").mockResolvedValue({ status: "valid" });
    onTestFinished(() => engine.mockRestore());
  }

  async make({ slot, parentRoot, blobs = 2, mark = 0 }: Making): Promise<BlockWithCommitments> {
    const { config, chain } = this.#devChain;
    const produced = (await this.#byHand.produce(slot, parentRoot, mark)) as electra.BeaconBlock;
    // A hashed block caches its root despite changes.
    const block = config.getForkTypes<ForkName.electra>(slot).BeaconBlock.clone(produced);
    block.body.blobKzgCommitments = Array.from({ length: blobs }, (_, index) => point(index));
    const made = this.#byHand.sign(await this.#byHand.withStateRoot(block));
    const blobBytes = Array.from({ length: blobs }, (_, index) => new Uint8Array(BLOB_BYTES).fill(index));
    const proofs = blobBytes.map((_, index) => point(index));
    const cells = Array.from({ length: CELLS_PER_EXT_BLOB }, (_, index) => new Uint8Array(CELL_BYTES).fill(index));
    const cellProofs = cells.map((_, index) => point(index));
    const sidecars = chain.data.hasColumns(slot)
      ? (columnSidecarsOf(
          columnFrameOf(config, made.signed),
          proofs.map(() => ({ cells, proofs: cellProofs })),
        ) as HeaderSidecar[])
      : blobSidecarsOf(config, made.signed, { blobs: blobBytes, proofs });
    return { ...made, slot, sidecars };
  }
}

function point(fill: number): Uint8Array {
  return new Uint8Array(POINT_BYTES).fill(fill);
}
