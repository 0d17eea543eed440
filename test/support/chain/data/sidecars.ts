import type { Slot } from "@lodestar/types";
import { type deneb, type fulu, ssz } from "@lodestar/types";
import { blockRootOfSidecar } from "../../../../src/data/sidecar.ts";

interface SampleBlock {
  slot: Slot;
  proposer?: number;
  /** Distinguishes blocks of one slot and proposer. */
  mark?: number;
}

/** Sidecars of a block with fake commitments. */
export class SampleSidecars {
  readonly slot: Slot;
  readonly root: string;
  readonly #proposer: number;
  readonly #mark: number;

  constructor({ slot, proposer = slot, mark = 0 }: SampleBlock) {
    this.slot = slot;
    this.#proposer = proposer;
    this.#mark = mark;
    this.root = blockRootOfSidecar(this.blob(0));
  }

  blob(index: number): deneb.BlobSidecar {
    return this.#withHeader({ ...ssz.deneb.BlobSidecar.defaultValue(), index });
  }

  /** Size of a cell. */
  column(index: number): fulu.DataColumnSidecar {
    const cell = new Uint8Array(ssz.fulu.Cell.fixedSize ?? 0).fill(index);
    const point = new Uint8Array(48);
    const frame = ssz.fulu.DataColumnSidecar.defaultValue();
    return this.#withHeader({ ...frame, index, column: [cell], kzgCommitments: [point], kzgProofs: [point] });
  }

  #withHeader<T extends deneb.BlobSidecar | fulu.DataColumnSidecar>(sidecar: T): T {
    const { message } = sidecar.signedBlockHeader;
    Object.assign(message, {
      slot: this.slot,
      proposerIndex: this.#proposer,
      bodyRoot: new Uint8Array(32).fill(this.#mark),
    });
    return sidecar;
  }
}
