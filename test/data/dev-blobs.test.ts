import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { deneb, fulu } from "@lodestar/types";
import { expect, it } from "vitest";
import type { BeaconChain } from "../../src/chain/chain.ts";
import { verifyBlobInclusion } from "../../src/data/blob-sidecars.ts";
import { cellsOfColumns, verifyColumnInclusion } from "../../src/data/column-sidecars.ts";
import { commitmentsOf } from "../../src/data/commitments.ts";
import type { DataSidecar, HeaderSidecar } from "../../src/data/sidecar.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { sharedKzg as kzg } from "../support/data/kzg/shared-kzg.ts";

/** Epochs at which the blob limit changes, with the new limit. */
const LIMITS = [
  { epoch: 0, fork: "deneb", most: 2 },
  { epoch: 1, fork: "electra", most: 3 },
  { epoch: 2, fork: "fulu", most: 3 },
  { epoch: 3, fork: "fulu", most: 1 },
  { epoch: 4, fork: "fulu", most: 4 },
] as const;
const EPOCHS = 5;

async function blockAt({ blocks }: BeaconChain, slot: number) {
  const { root, signed } = (await blocks.canonicalAtSlot(slot))!;
  return { slot, root, commitments: commitmentsOf(signed) };
}

async function verifyBlobs(commitments: readonly Uint8Array[], sidecars: HeaderSidecar[]): Promise<void> {
  const blobs = sidecars as deneb.BlobSidecar[];
  expect(blobs.map(({ kzgCommitment }) => kzgCommitment)).toEqual(commitments);
  expect(blobs.every(verifyBlobInclusion)).toBe(true);
  const proofs = blobs.map(({ kzgProof }) => kzgProof);
  expect(await kzg.verifyBlobs({ blobs: blobs.map(({ blob }) => blob), commitments, proofs })).toBe(true);
}

async function verifyColumns(commitments: readonly Uint8Array[], sidecars: HeaderSidecar[]): Promise<void> {
  const columns = sidecars as fulu.DataColumnSidecar[];
  expect(columns).toHaveLength(128);
  expect(columns.every((column) => column.kzgCommitments.length === commitments.length)).toBe(true);
  expect(columns.every(verifyColumnInclusion)).toBe(true);
  expect(
    await kzg.verifyCells(
      cellsOfColumns([columns[5]!, columns[100]!].map((sidecar) => ({ sidecar, commitments: [...commitments] }))),
    ),
  ).toBe(true);
}

it("finalizes a chain with blobs, from deneb to fulu and through changes of their limit", async () => {
  const { devChain, complaints } = await openDevChain({
    speed: 0,
    chainTuning: { kzg },
    devBlobs: { min: 0, max: 4 },
    forks: [
      { fork: "deneb", epoch: 0 },
      { fork: "electra", epoch: 1 },
      { fork: "fulu", epoch: 2 },
    ],
    configOverrides: { MAX_BLOBS_PER_BLOCK: "2", MAX_BLOBS_PER_BLOCK_ELECTRA: "3", BLOB_SCHEDULE: "3:1;4:4" },
  });
  const { chain } = devChain;
  const told = new Map<string, number[]>();
  const note = ({ root, sidecar: { index } }: { root: string; sidecar: DataSidecar }) =>
    told.set(root, [...(told.get(root) ?? []), index]);
  chain.events.on("blobSidecar", note);
  chain.events.on("columnSidecar", note);
  await devChain.control.time.advance({ slots: EPOCHS * SLOTS_PER_EPOCH });
  expect(chain.forkChoice.finalized.epoch).toBe(EPOCHS - 2);

  const seen: string[] = [];
  for (const [place, { epoch, fork, most }] of LIMITS.entries()) {
    const end = (LIMITS[place + 1]?.epoch ?? EPOCHS) * SLOTS_PER_EPOCH;
    const counts = new Set<number>();
    for (let slot = Math.max(1, epoch * SLOTS_PER_EPOCH); slot < end; slot++) {
      const block = await blockAt(chain, slot);
      const { commitments } = block;
      seen.push(...commitments.map((commitment) => Buffer.from(commitment).toString("hex")));
      const stored = fork === "fulu" && commitments.length > 0 ? 128 : commitments.length;
      const indices = await chain.data.indices(block.root);
      expect(indices).toHaveLength(stored);
      expect(told.get(block.root) ?? []).toEqual(indices);
      if (commitments.length === most && !counts.has(most)) {
        await (fork === "fulu" ? verifyColumns : verifyBlobs)(
          commitments,
          (await chain.data.sidecars(block)) as HeaderSidecar[],
        );
      }
      counts.add(commitments.length);
    }
    expect(chain.config.getForkName(end - 1)).toBe(fork);
    expect([...counts].sort()).toEqual(Array.from({ length: most + 1 }, (_, count) => count));
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(complaints).toEqual([]);
});
