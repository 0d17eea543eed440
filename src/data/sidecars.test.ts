import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { BYTES_PER_CELL, CELLS_PER_EXT_BLOB, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type fulu, type gloas, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { blobSidecarsOf, verifyBlobInclusion } from "./blob-sidecars.ts";
import {
  cellsOfColumns,
  columnFrameOf,
  columnSidecarsOf,
  faultOfColumn,
  faultOfGloasColumn,
  verifyColumnInclusion,
} from "./column-sidecars.ts";
import { commitmentsOf } from "./commitments.ts";
import {
  blockRootOfSidecar,
  deserializeSidecar,
  hasHeader,
  isColumn,
  serializeSidecar,
  slotOfSidecar,
} from "./sidecar.ts";

const FULU_EPOCH = 1;
const GLOAS_EPOCH = 2;
const config = createBeaconConfig(
  {
    ...chainConfig,
    ALTAIR_FORK_EPOCH: 0,
    BELLATRIX_FORK_EPOCH: 0,
    CAPELLA_FORK_EPOCH: 0,
    DENEB_FORK_EPOCH: 0,
    ELECTRA_FORK_EPOCH: 0,
    FULU_FORK_EPOCH: FULU_EPOCH,
    GLOAS_FORK_EPOCH: GLOAS_EPOCH,
    BLOB_SCHEDULE: [],
  },
  new Uint8Array(32),
);
const BLOBS = 3;

const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte);
const commitments = Array.from({ length: BLOBS }, (_, index) => filled(48, 0x90 + index));

function blockAt(slot: number) {
  const block = ssz.electra.SignedBeaconBlock.defaultValue();
  block.message.slot = slot;
  block.message.body.graffiti = filled(32, 7);
  block.message.body.blobKzgCommitments = commitments;
  return block;
}

const rootOf = (block: ReturnType<typeof blockAt>) => toRootHex(ssz.electra.BeaconBlock.hashTreeRoot(block.message));

describe("blob sidecars", () => {
  const block = blockAt(2);
  const sidecars = blobSidecarsOf(config, block, {
    blobs: commitments.map((_, index) => filled(131072, index)),
    proofs: commitments.map((_, index) => filled(48, 0xa0 + index)),
  });

  it("have an inclusion proof in the block header at their index", () => {
    expect(sidecars.map(verifyBlobInclusion)).toEqual([true, true, true]);
    const [first, second] = sidecars as [(typeof sidecars)[0], (typeof sidecars)[0]];
    const { kzgCommitmentInclusionProof: branch } = first;
    const header = {
      ...first.signedBlockHeader,
      message: { ...first.signedBlockHeader.message, bodyRoot: filled(32, 1) },
    };
    for (const wrong of [
      { ...first, index: 1 },
      { ...first, kzgCommitment: second.kzgCommitment },
      { ...first, signedBlockHeader: header },
      { ...first, kzgCommitmentInclusionProof: [branch[1]!, branch[0]!, ...branch.slice(2)] },
    ]) {
      expect(verifyBlobInclusion(wrong)).toBe(false);
    }
  });

  it("know their block and round-trip", () => {
    const [, second] = sidecars;
    expect(blockRootOfSidecar(second!)).toBe(rootOf(block));
    expect(slotOfSidecar(second!)).toBe(2);
    expect(isColumn(second!)).toBe(false);
    const read = ssz.deneb.BlobSidecar.deserialize(serializeSidecar(second!));
    expect(ssz.deneb.BlobSidecar.equals(read, second!)).toBe(true);
  });
});

describe("column sidecars", () => {
  const block = blockAt(FULU_EPOCH * SLOTS_PER_EPOCH);
  const extended = commitments.map((_, blob) => ({
    cells: Array.from({ length: CELLS_PER_EXT_BLOB }, (_, index) => filled(BYTES_PER_CELL, blob * 64 + (index % 64))),
    proofs: Array.from({ length: CELLS_PER_EXT_BLOB }, (_, index) => filled(48, index)),
  }));
  const frame = columnFrameOf(config, block);
  const sidecars = columnSidecarsOf(frame, extended);
  const tenth = sidecars[10] as fulu.DataColumnSidecar;

  it("contain the cells of one index of all blobs", () => {
    expect(sidecars.map(({ index }) => index)).toEqual(extended[0]!.cells.map((_, index) => index));
    expect(tenth.column).toEqual(extended.map(({ cells }) => cells[10]));
    expect(tenth.kzgProofs).toEqual(extended.map(({ proofs }) => proofs[10]));
    expect(columnSidecarsOf(frame, extended, [10])).toEqual([tenth]);
    expect(cellsOfColumns([tenth, sidecars[11]!].map((sidecar) => ({ sidecar, commitments })))).toEqual({
      commitments: [...commitments, ...commitments],
      cellIndices: [10, 10, 10, 11, 11, 11],
      cells: [...tenth.column, ...sidecars[11]!.column],
      proofs: [...tenth.kzgProofs, ...sidecars[11]!.kzgProofs],
    });
  });

  it("have an inclusion proof in the block header", () => {
    expect(verifyColumnInclusion(tenth)).toBe(true);
    expect(verifyColumnInclusion({ ...tenth, kzgCommitments: commitments.slice(1) })).toBe(false);
    expect(verifyColumnInclusion({ ...tenth, kzgCommitments: [...commitments].reverse() })).toBe(false);
    const branch = tenth.kzgCommitmentsInclusionProof;
    expect(verifyColumnInclusion({ ...tenth, kzgCommitmentsInclusionProof: [...branch].reverse() })).toBe(false);
  });

  it("know their block and round-trip", () => {
    expect(blockRootOfSidecar(tenth)).toBe(rootOf(block));
    expect(isColumn(tenth)).toBe(true);
    const read = ssz.fulu.DataColumnSidecar.deserialize(serializeSidecar(tenth));
    expect(ssz.fulu.DataColumnSidecar.equals(read, tenth)).toBe(true);
  });

  it.each<[string, Partial<fulu.DataColumnSidecar>]>([
    ["Column index 128 is out of range: the maximum is 127.", { index: 128 }],
    ["A column sidecar must have at least one commitment.", { kzgCommitments: [], column: [], kzgProofs: [] }],
    ["It has 10 commitments, the maximum is 9.", { kzgCommitments: Array(10).fill(commitments[0]) }],
    ["It has 3 commitments, but 2 cells and 3 proofs.", { column: tenth.column.slice(1) }],
    ["It has 3 commitments, but 3 cells and 2 proofs.", { kzgProofs: tenth.kzgProofs.slice(1) }],
  ])("are malformed: %s", (fault, change) => {
    expect(faultOfColumn(config, tenth)).toBeUndefined();
    expect(faultOfColumn(config, { ...tenth, ...change })).toBe(fault);
  });
});

describe("column sidecars since gloas", () => {
  const block = ssz.gloas.SignedBeaconBlock.defaultValue();
  block.message.slot = GLOAS_EPOCH * SLOTS_PER_EPOCH + 3;
  block.message.body.signedExecutionPayloadBid.message.blobKzgCommitments = commitments;
  const extended = commitments.map((_, row) => ({
    cells: Array.from({ length: CELLS_PER_EXT_BLOB }, (_, index) => filled(BYTES_PER_CELL, row + index)),
    proofs: Array.from({ length: CELLS_PER_EXT_BLOB }, (_, index) => filled(48, index)),
  }));
  const [column] = columnSidecarsOf(columnFrameOf(config, block), extended, [7]) as [gloas.DataColumnSidecar];

  it("name their block, whose bid has the commitments", () => {
    expect(commitmentsOf(block)).toEqual(commitments);
    expect([isColumn(column), hasHeader(column)]).toEqual([true, false]);
    expect(blockRootOfSidecar(column)).toBe(toRootHex(ssz.gloas.BeaconBlock.hashTreeRoot(block.message)));
    expect(slotOfSidecar(column)).toBe(block.message.slot);
    expect(column.column).toEqual(extended.map(({ cells }) => cells[7]));
  });

  it("are distinguished from those of fulu in storage", () => {
    const inside = new Uint8Array([1, ...serializeSidecar(column), 1]).subarray(1, -1);
    expect(deserializeSidecar(inside)).toEqual(column);
    const ofFulu = ssz.fulu.DataColumnSidecar.defaultValue();
    expect(deserializeSidecar(serializeSidecar(ofFulu))).toEqual(ofFulu);
  });

  it.each<[string, Partial<gloas.DataColumnSidecar>]>([
    ["its index is out of range: the maximum is 127.", { index: 128 }],
    ["it has no cells.", { column: [], kzgProofs: [] }],
    ["the bid has 3 commitments, but it has 2 cells and 3 proofs.", { column: column.column.slice(1) }],
    ["the bid has 3 commitments, but it has 3 cells and 2 proofs.", { kzgProofs: column.kzgProofs.slice(1) }],
  ])("are malformed: %s", (fault, change) => {
    expect(faultOfGloasColumn(column, commitments)).toBeUndefined();
    expect(faultOfGloasColumn({ ...column, ...change }, commitments)).toBe(fault);
  });
});
