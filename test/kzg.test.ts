import { readFileSync } from "node:fs";
import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { CELLS_PER_EXT_BLOB, ForkName, type ForkPostBellatrix, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { BlobsBundle } from "@lodestar/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CellBatch, CellsAndProofs } from "../src/data/kzg.ts";
import { KzgThread } from "../src/data/kzg-thread.ts";
import { DevBlobs } from "../src/dev/dev-blobs.ts";
import type { PayloadRequest } from "../src/execution/engine.ts";
import { createRecordingLogger } from "../src/log/recording-logger.test-support.ts";
import { answerTo, functionsIn, vectorsOf } from "./support/kzg-vectors.ts";
import { sharedKzg as kzg } from "./support/shared-kzg.ts";

const config = createBeaconConfig(
  {
    ...chainConfig,
    DENEB_FORK_EPOCH: 0,
    ELECTRA_FORK_EPOCH: 1,
    FULU_FORK_EPOCH: 2,
    BLOB_SCHEDULE: [{ EPOCH: 3, MAX_BLOBS_PER_BLOCK: 12 }],
  },
  new Uint8Array(32),
);
const CELLS = Array.from({ length: CELLS_PER_EXT_BLOB }, (_, index) => index);
/** Of the checkout of ethereum/c-kzg-4844, or of tests/general/fulu/kzg of ethereum/consensus-spec-tests. */
const VECTORS = process.env.FANAL_TEST_KZG_VECTORS;

const blobsOf = (least: number, most = least) => new DevBlobs({ config, kzg, counts: { least, most } });
const pairs = blobsOf(2);

const request = (fork: ForkPostBellatrix, slot: number, parent = 1) =>
  ({ fork, slot, parent: { blockHash: new Uint8Array(32).fill(parent), blockNumber: 0 } }) as PayloadRequest;

async function extended({ blobs, proofs }: BlobsBundle): Promise<CellsAndProofs[]> {
  const cells = await Promise.all(blobs.map((blob) => kzg.cellsOf(blob)));
  return cells.map((ofBlob, index) => ({
    cells: ofBlob,
    proofs: proofs.slice(index * CELLS_PER_EXT_BLOB, (index + 1) * CELLS_PER_EXT_BLOB),
  }));
}

function batchOf({ commitments }: BlobsBundle, blobs: CellsAndProofs[], indices = CELLS): CellBatch {
  const places = blobs.flatMap((_, blob) => indices.map((index) => ({ blob, index })));
  return {
    commitments: places.map(({ blob }) => commitments[blob]!),
    cellIndices: places.map(({ index }) => index),
    cells: places.map(({ blob, index }) => blobs[blob]!.cells[index]!),
    proofs: places.map(({ blob, index }) => blobs[blob]!.proofs[index]!),
  };
}

const spoilt = (bytes: Uint8Array, at: number) => bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
const replaced = <T>(list: readonly T[], at: number, value: T) =>
  list.map((each, index) => (index === at ? value : each));

describe("commitments in a thread", () => {
  it("are verified as the vectors of the specification say", async () => {
    const fixture = new URL("./fixtures/kzg-cells.json", import.meta.url);
    const vectors = JSON.parse(readFileSync(fixture, "utf8")) as Record<string, Record<string, never>>;
    const answers = Object.entries(vectors).map(async ([name, { output, ...input }]) => {
      const { answer, expected } = await answerTo(kzg, "verify_cell_kzg_proof_batch", { input, output });
      return { name, answer, expected };
    });
    for (const { name, answer, expected } of await Promise.all(answers))
      expect([name, answer]).toEqual([name, expected]);
  });

  // All of them are 80 MB. FANAL_TEST_KZG_VECTORS names the folder "tests" of a checkout that has them.
  it.runIf(VECTORS).each(VECTORS ? functionsIn(VECTORS) : [])(
    "answer all vectors of %s",
    { timeout: 600_000 },
    async (name) => {
      for (const vector of vectorsOf(VECTORS!, name)) {
        const { answer, expected } = await answerTo(kzg, name, vector);
        expect([vector.name, answer]).toEqual([vector.name, expected]);
      }
    },
  );

  it("find what is wrong with one of those who asked at the same time, and only with that one", async () => {
    const bundle = await pairs.bundleFor(request(ForkName.fulu, 2 * SLOTS_PER_EPOCH));
    const good = batchOf(bundle, await extended(bundle), [3, 77]);
    const { commitments, cells, cellIndices, proofs } = good;
    const infinity = Uint8Array.of(0xc0, ...new Uint8Array(47));
    const wrong: CellBatch[] = [
      { ...good, cells: replaced(cells, 1, spoilt(cells[1]!, 31)) },
      { ...good, cells: replaced(cells, 1, new Uint8Array(2048).fill(0xff)) },
      { ...good, cells: replaced(cells, 1, cells[1]!.subarray(1)) },
      { ...good, proofs: replaced(proofs, 0, proofs[1]!) },
      { ...good, proofs: replaced(proofs, 0, infinity) },
      { ...good, proofs: replaced(proofs, 0, new Uint8Array(48).fill(0xff)) },
      { ...good, commitments: replaced(commitments, 0, commitments[2]!) },
      { ...good, commitments: replaced(commitments, 0, spoilt(commitments[0]!, 47)) },
      { ...good, cellIndices: replaced(cellIndices, 0, 4) },
      { ...good, cellIndices: replaced(cellIndices, 0, 128) },
    ];
    const verdicts = await Promise.all([good, ...wrong, good].map((batch) => kzg.verifyCells(batch)));
    expect(verdicts).toEqual([true, ...wrong.map(() => false), true]);

    const blobs = await pairs.bundleFor(request(ForkName.electra, SLOTS_PER_EPOCH));
    const [first, second] = blobs.blobs as [Uint8Array, Uint8Array];
    const wrongBlobs = [
      { ...blobs, blobs: replaced(blobs.blobs, 0, second) },
      { ...blobs, blobs: replaced(blobs.blobs, 0, spoilt(first, 31)) },
      { ...blobs, blobs: replaced(blobs.blobs, 0, new Uint8Array(131072).fill(0xff)) },
      { ...blobs, proofs: replaced(blobs.proofs, 1, infinity) },
      { ...blobs, commitments: replaced(blobs.commitments, 1, blobs.commitments[0]!) },
    ];
    expect(await Promise.all([blobs, ...wrongBlobs, blobs].map((batch) => kzg.verifyBlobs(batch)))).toEqual([
      true,
      ...wrongBlobs.map(() => false),
      true,
    ]);
  });

  it("lead back to all cells from any half of them, and not from fewer", async () => {
    const bundle = await pairs.bundleFor(request(ForkName.fulu, 2 * SLOTS_PER_EPOCH));
    const [{ cells, proofs }] = (await extended(bundle)) as [CellsAndProofs, CellsAndProofs];
    const half = fc.shuffledSubarray(CELLS, { minLength: 64, maxLength: 64 });
    await fc.assert(
      fc.asyncProperty(half, async (chosen) => {
        const indices = chosen.toSorted((a, b) => a - b);
        const known = indices.map((index) => cells[index]!);
        expect(await kzg.recover(indices, known)).toEqual({ cells, proofs });
        await expect(kzg.recover(indices.slice(1), known.slice(1))).rejects.toThrow();
      }),
      { numRuns: 2 },
    );
  }, 180_000);

  it("leave what they were given as it was, though it is a part of something larger", async () => {
    const bundle = await pairs.bundleFor(request(ForkName.deneb, 0));
    const memory = Buffer.concat([new Uint8Array(1000), bundle.blobs[0]!, new Uint8Array(1000)]);
    const before = Buffer.from(memory);
    const blob = memory.subarray(1000, -1000);
    expect(await kzg.commitmentOf(blob)).toEqual(bundle.commitments[0]);
    expect(await kzg.blobProofOf(blob, bundle.commitments[0]!)).toEqual(bundle.proofs[0]);
    expect(memory.equals(before)).toBe(true);
    expect(
      Buffer.concat(await kzg.cellsOf(blob))
        .subarray(0, blob.length)
        .equals(blob),
    ).toBe(true);
  });

  it("survive that another thread ends before it has done anything", async () => {
    const bundle = await pairs.bundleFor(request(ForkName.deneb, 0));
    const other = new KzgThread(createRecordingLogger());
    const [begun] = await Promise.all([Promise.allSettled([other.verifyBlobs(bundle)]), other.close()]);
    expect(begun.map(({ status }) => status)).toEqual(["rejected"]);
    expect(await kzg.verifyBlobs(bundle)).toBe(true);
  });
});

describe("the blobs of a dev chain", () => {
  it("are as many as their range has by turns, within the limit of the epoch", () => {
    const counts = (blobs: DevBlobs, epoch: number) =>
      Array.from({ length: SLOTS_PER_EPOCH }, (_, slot) => blobs.countAt(epoch * SLOTS_PER_EPOCH + slot));
    expect(counts(blobsOf(3), 0)).toEqual(Array(SLOTS_PER_EPOCH).fill(3));
    expect(counts(blobsOf(1, 4), 0)).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
    expect([0, 1, 2, 3].map((epoch) => counts(blobsOf(21), epoch)[0])).toEqual([6, 9, 9, 12]);
  });

  it("have right commitments and proofs, each its own", async () => {
    const slots = fc.nat(SLOTS_PER_EPOCH - 1);
    await fc.assert(
      fc.asyncProperty(slots, fc.nat(255), async (slot, parent) => {
        const before = await pairs.bundleFor(request(ForkName.deneb, slot, parent));
        expect(await kzg.verifyBlobs(before)).toBe(true);
        const since = await pairs.bundleFor(request(ForkName.fulu, 2 * SLOTS_PER_EPOCH + slot, parent));
        expect(await kzg.verifyCells(batchOf(since, await extended(since), [0, 63, 64, 127]))).toBe(true);
        const all = [...before.blobs, ...since.blobs];
        expect(new Set(all.map((blob) => Buffer.from(blob).toString("latin1"))).size).toBe(all.length);
      }),
      { numRuns: 3 },
    );
  });

  it("are those that the library makes", async () => {
    const [before, since] = await Promise.all([
      pairs.bundleFor(request(ForkName.electra, SLOTS_PER_EPOCH)),
      pairs.bundleFor(request(ForkName.fulu, 2 * SLOTS_PER_EPOCH)),
    ]);
    expect(await kzg.commitmentOf(before.blobs[0]!)).toEqual(before.commitments[0]);
    expect(await kzg.blobProofOf(before.blobs[0]!, before.commitments[0]!)).toEqual(before.proofs[0]);
    const { proofs } = await kzg.cellsAndProofsOf(since.blobs[0]!);
    expect(since.proofs).toEqual([...proofs, ...proofs]);
    expect(new Set(proofs.map((proof) => Buffer.from(proof).toString("hex"))).size).toBe(CELLS_PER_EXT_BLOB);
    expect(await pairs.bundleFor(request(ForkName.fulu, 2 * SLOTS_PER_EPOCH))).toEqual(since);
  });
});
