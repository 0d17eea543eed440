import type { fulu } from "@lodestar/types";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KzgThread } from "../../data/kzg-thread.ts";
import { type DataSidecar, subnetOfSidecar } from "../../data/sidecar.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { validateBlobSidecar } from "../validation/blob-sidecar.ts";
import { validateColumnSidecar } from "../validation/column-sidecar.ts";
import { refusalOf, TestChain } from "../validation/validation-chain.test-support.ts";
import { produceWithBlobs } from "./blobs.test-support.ts";
import { blobsOfBlock } from "./blobs-of-block.ts";
import { Custody } from "./custody.ts";
import { DataPool } from "./data-pool.ts";
import { Reconstruction } from "./reconstruction.ts";
import { verifySidecars } from "./verify-sidecars.ts";

// Elsewhere commitments are made of hashes; here all that asks for them does so with the real ones.
const logger = createRecordingLogger();
const kzg = new KzgThread(logger);
beforeAll(() => kzg.prepare());
afterAll(() => kzg.close());

test("blob sidecars of electra", async () => {
  const chain = new TestChain("electra");
  chain.clock.set(1);
  const context = { ...chain.context, kzg };
  const block = await produceWithBlobs(chain, 1, { kzg });
  await verifySidecars(chain.config, kzg, [{ block, sidecars: block.sidecars }]);
  for (const sidecar of block.sidecars) {
    if ("column" in sidecar) throw new Error("Electra has no columns.");
    const wrong = structuredClone(sidecar);
    wrong.blob[5]! ^= 1;
    await expect(verifySidecars(chain.config, kzg, [{ block, sidecars: [wrong] }])).rejects.toThrow("KZG proof");
    const refusal = await refusalOf(validateBlobSidecar(context, wrong, sidecar.index));
    expect(refusal).toMatchObject({ action: "reject", reason: "bad-kzg-proof" });
    await validateBlobSidecar(context, sidecar, sidecar.index);
  }
  await chain.close();
});

test("columns of fulu", async () => {
  const chain = new TestChain("fulu");
  chain.clock.set(1);
  const context = { ...chain.context, kzg };
  const block = await produceWithBlobs(chain, 1, { kzg });
  const columns = block.sidecars as fulu.DataColumnSidecar[];
  await verifySidecars(chain.config, kzg, [{ block, sidecars: columns }]);
  const wrong = structuredClone(columns[70]!);
  wrong.column[1]![5]! ^= 1;
  const among = columns.map((sidecar) => (sidecar.index === 70 ? wrong : sidecar));
  await expect(verifySidecars(chain.config, kzg, [{ block, sidecars: among }])).rejects.toMatchObject({ index: 70 });
  const refusal = await refusalOf(validateColumnSidecar(context, wrong, 70));
  expect(refusal).toMatchObject({ action: "reject", reason: "bad-kzg-proof" });
  await validateColumnSidecar(context, columns[70]!, subnetOfSidecar(chain.config, columns[70]!));

  const odd = columns.filter(({ index }) => index % 2 === 1);
  const held = { kzg, keptColumns: 64, hasColumns: () => true };
  const sidecars = async (_: unknown, indices?: readonly number[]) =>
    odd.filter(({ index }) => indices?.includes(index) ?? true);
  expect(await blobsOfBlock(block, { ...held, sidecars })).toEqual(block.blobs);

  const pool = new DataPool();
  const made = Promise.withResolvers<readonly DataSidecar[]>();
  const reconstruction = new Reconstruction({
    clock: { secondsPerSlot: 12, nowSeconds: () => 0, untilTime: async () => {} },
    data: { pool, custody: new Custody(chain.config), kzg },
    sidecars: { made: made.resolve },
    logger,
  });
  pool.add({ slot: 1, root: block.root }, odd);
  expect(await made.promise).toEqual(columns.filter(({ index }) => index % 2 === 0));
  reconstruction.close();
  await chain.close();
});
