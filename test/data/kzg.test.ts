import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { CELLS_PER_EXT_BLOB, ForkName, type ForkPostBellatrix, SLOTS_PER_EPOCH } from "@lodestar/params";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { KZG_BACKENDS, type KzgChoice } from "../../src/data/kzg/backend.ts";
import type { CellBatch, CellsAndProofs } from "../../src/data/kzg/kzg.ts";
import { loadBackend } from "../../src/data/kzg/load-backend.ts";
import { ThreadedKzg } from "../../src/data/kzg/threaded-kzg.ts";
import { DevBlobs } from "../../src/dev/dev-blobs.ts";
import type { PayloadBlobs, PayloadRequest } from "../../src/execution/engine.ts";
import { openTestKzg, sharedKzg } from "../support/data/kzg/shared-kzg.ts";
import { createRecordingLogger } from "../support/log/recording-logger.ts";
import { isFullTier, variants } from "../support/suite/tier.ts";
import { answerTo, functionsIn, vectorsOf } from "./kzg-vectors.ts";

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
/**
 * The folder "tests" of a checkout of ethereum/c-kzg-4844, or tests/general/fulu/kzg of ethereum/consensus-spec-tests.
 */
const VECTORS = process.env.FANAL_TEST_KZG_VECTORS;

const blobsOf = (min: number, max = min) => new DevBlobs({ config, counts: { min, max } });
const pairs = blobsOf(2);

const request = (fork: ForkPostBellatrix, slot: number, parent = 1) =>
  ({ fork, slot, parent: { blockHash: new Uint8Array(32).fill(parent), blockNumber: 0 } }) as PayloadRequest;
const electraBundle = (slot = 0, parent = 1) =>
  pairs.bundleFor(request(ForkName.electra, SLOTS_PER_EPOCH + slot, parent));
const fuluBundle = (slot = 0, parent = 1) =>
  pairs.bundleFor(request(ForkName.fulu, 2 * SLOTS_PER_EPOCH + slot, parent));

function cellBatch({ commitments, cells, proofs }: PayloadBlobs, indices = CELLS): CellBatch {
  const places = commitments.flatMap((_, blob) => indices.map((index) => ({ blob, index })));
  return {
    commitments: places.map(({ blob }) => commitments[blob]!),
    cellIndices: places.map(({ index }) => index),
    cells: places.map(({ blob, index }) => cells![blob]![index]!),
    proofs: places.map(({ blob, index }) => proofs[blob * CELLS_PER_EXT_BLOB + index]!),
  };
}

/** The cells and proofs of the first blob. */
const firstOf = ({ cells, proofs }: PayloadBlobs): CellsAndProofs => ({
  cells: cells![0]!,
  proofs: proofs.slice(0, CELLS_PER_EXT_BLOB),
});

const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
const replaced = <T>(list: readonly T[], at: number, value: T) =>
  list.map((each, index) => (index === at ? value : each));

const { backend: sharedBackend } = await loadBackend((process.env.FANAL_KZG as KzgChoice | undefined) ?? "auto");

/** The portable backend takes half a minute. */
const BACKENDS = variants({ fast: KZG_BACKENDS.filter((name) => name !== "portable"), full: KZG_BACKENDS });

describe.each(BACKENDS)("KZG backend %s", (backend) => {
  // Loading the trusted setup again would take seconds.
  const kzg = backend === sharedBackend ? sharedKzg : new ThreadedKzg(createRecordingLogger(), { backend });
  let missing: string | undefined;
  beforeAll(async () => {
    if (!(kzg instanceof ThreadedKzg)) return;
    await kzg.load().catch((error: Error) => {
      missing = error.message;
    });
  });
  beforeEach((context) => context.skip(missing !== undefined, missing));
  afterAll(() => kzg.close());

  it("passes the vectors of the specification", async () => {
    const fixture = new URL("../fixtures/kzg-cells.json", import.meta.url);
    const vectors = JSON.parse(readFileSync(fixture, "utf8")) as Record<string, Record<string, never>>;
    const answers = Object.entries(vectors).map(async ([name, { output, ...input }]) => {
      const { answer, expected } = await answerTo(kzg, "verify_cell_kzg_proof_batch", { input, output });
      return { name, answer, expected };
    });
    for (const { name, answer, expected } of await Promise.all(answers))
      expect([name, answer]).toEqual([name, expected]);
  });

  // All vectors together have 80 MB.
  it.runIf(VECTORS).each(VECTORS ? functionsIn(VECTORS) : [])(
    "passes all vectors of %s",
    { timeout: 1_800_000 },
    async (name) => {
      for (const vector of vectorsOf(VECTORS!, name)) {
        const { answer, expected } = await answerTo(kzg, name, vector);
        // Not `toEqual`, whose diff would have megabytes.
        expect([vector.name, isDeepStrictEqual(answer, expected)]).toEqual([vector.name, true]);
      }
    },
  );

  it("rejects one wrong batch among others that are verified at the same time", async () => {
    const good = cellBatch(fuluBundle(), [3, 77]);
    const { commitments, cells, cellIndices, proofs } = good;
    const infinity = Uint8Array.of(0xc0, ...new Uint8Array(47));
    const wrong: CellBatch[] = [
      { ...good, cells: replaced(cells, 1, flipped(cells[1]!, 31)) },
      { ...good, cells: replaced(cells, 1, new Uint8Array(2048).fill(0xff)) },
      { ...good, cells: replaced(cells, 1, cells[1]!.subarray(1)) },
      { ...good, proofs: replaced(proofs, 0, proofs[1]!) },
      { ...good, proofs: replaced(proofs, 0, infinity) },
      { ...good, proofs: replaced(proofs, 0, new Uint8Array(48).fill(0xff)) },
      { ...good, commitments: replaced(commitments, 0, commitments[2]!) },
      { ...good, commitments: replaced(commitments, 0, flipped(commitments[0]!, 47)) },
      { ...good, cellIndices: replaced(cellIndices, 0, 4) },
      { ...good, cellIndices: replaced(cellIndices, 0, 128) },
    ];
    const verdicts = await Promise.all([good, ...wrong, good].map((batch) => kzg.verifyCells(batch)));
    expect(verdicts).toEqual([true, ...wrong.map(() => false), true]);

    const blobs = electraBundle();
    const [first, second] = blobs.blobs as [Uint8Array, Uint8Array];
    const wrongBlobs = [
      { ...blobs, blobs: replaced(blobs.blobs, 0, second) },
      { ...blobs, blobs: replaced(blobs.blobs, 0, flipped(first, 31)) },
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

  it("computes commitments, proofs and cells without changing its input", async () => {
    const bundle = electraBundle();
    const memory = Buffer.concat([new Uint8Array(1000), bundle.blobs[0]!, new Uint8Array(1000)]);
    const before = Buffer.from(memory);
    const blob = memory.subarray(1000, -1000);
    expect(await kzg.commitmentOf(blob)).toEqual(bundle.commitments[0]);
    expect(await kzg.blobProofOf(blob, bundle.commitments[0]!)).toEqual(bundle.proofs[0]);
    expect(memory.equals(before)).toBe(true);
    const { blobs, cells } = fuluBundle();
    expect(await kzg.cellsOf(blobs[0]!)).toEqual(cells![0]);
  });

  it("rejects malformed blobs", async () => {
    const { commitments, proofs } = electraBundle();
    for (const blob of [new Uint8Array(131072).fill(0xff), new Uint8Array(131071)]) {
      await expect(kzg.commitmentOf(blob)).rejects.toThrow();
      await expect(kzg.blobProofOf(blob, commitments[0]!)).rejects.toThrow();
      await expect(kzg.cellsOf(blob)).rejects.toThrow();
      const batch = { blobs: [blob], commitments: commitments.slice(0, 1), proofs: proofs.slice(0, 1) };
      expect(await kzg.verifyBlobs(batch)).toBe(false);
    }
  });
});

it("verifies in JavaScript with the portable backend", async () => {
  const kzg = new ThreadedKzg(createRecordingLogger(), { backend: "portable" });
  onTestFinished(() => kzg.close());
  const good = cellBatch(fuluBundle(), [3, 77]);
  expect(await kzg.verifyCells(good)).toBe(true);
  expect(await kzg.verifyCells({ ...good, proofs: good.proofs.toReversed() })).toBe(false);
  expect(await kzg.verifyBlobs(electraBundle())).toBe(true);
});

describe("ThreadedKzg", () => {
  if (isFullTier) {
    it("recovers all cells from any half of them, and not from fewer", async () => {
      const { cells, proofs } = firstOf(fuluBundle());
      const half = fc.shuffledSubarray(CELLS, { minLength: 64, maxLength: 64 });
      await fc.assert(
        fc.asyncProperty(half, async (chosen) => {
          const indices = chosen.toSorted((a, b) => a - b);
          const known = indices.map((index) => cells[index]!);
          expect(await sharedKzg.recover(indices, known)).toEqual({ cells, proofs });
          await expect(sharedKzg.recover(indices.slice(1), known.slice(1))).rejects.toThrow();
          await expect(sharedKzg.recover(indices.toReversed(), known.toReversed())).rejects.toThrow();
        }),
        { numRuns: 1 },
      );
    }, 180_000);
  }

  it("survives the termination of another thread while it loads", async () => {
    const bundle = electraBundle();
    const other = openTestKzg();
    const [begun] = await Promise.all([Promise.allSettled([other.verifyBlobs(bundle)]), other.close()]);
    expect(begun.map(({ status }) => status)).toEqual(["rejected"]);
    expect(await sharedKzg.verifyBlobs(bundle)).toBe(true);
  });
});

describe("DevBlobs", () => {
  it("cycles through the range of counts, within the limit of the epoch", () => {
    const counts = (blobs: DevBlobs, epoch: number) =>
      Array.from({ length: SLOTS_PER_EPOCH }, (_, slot) => blobs.countAt(epoch * SLOTS_PER_EPOCH + slot));
    expect(counts(blobsOf(3), 0)).toEqual(Array(SLOTS_PER_EPOCH).fill(3));
    expect(counts(blobsOf(1, 4), 0)).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
    expect([0, 1, 2, 3].map((epoch) => counts(blobsOf(21), epoch)[0])).toEqual([6, 9, 9, 12]);
  });

  it("creates distinct blobs for every slot and parent, with valid commitments, proofs and cells", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(SLOTS_PER_EPOCH - 1), fc.nat(255), async (slot, parent) => {
        const [whole, extended] = [electraBundle(slot, parent), fuluBundle(slot, parent)];
        expect(await sharedKzg.verifyBlobs(whole)).toBe(true);
        expect(await sharedKzg.verifyCells(cellBatch(extended, [0, 63, 64, 127]))).toBe(true);
        const all = [...whole.blobs, ...extended.blobs];
        expect(new Set(all.map((blob) => Buffer.from(blob).toString("latin1"))).size).toBe(all.length);
        expect(fuluBundle(slot, parent)).toEqual(extended);
      }),
      { numRuns: 3 },
    );
  });

  it("has the same cell proofs as a backend, a distinct one for each cell", async () => {
    const bundle = fuluBundle();
    const { cells, proofs } = await sharedKzg.cellsAndProofsOf(bundle.blobs[0]!);
    expect(cells).toEqual(bundle.cells![0]);
    expect(bundle.proofs).toEqual([...proofs, ...proofs]);
    expect(new Set(proofs.map((proof) => Buffer.from(proof).toString("hex"))).size).toBe(CELLS_PER_EXT_BLOB);
    expect(await sharedKzg.commitmentOf(bundle.blobs[0]!)).toEqual(bundle.commitments[0]);
  }, 180_000);
});
