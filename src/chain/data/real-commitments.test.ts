import { ForkName, type ForkPostDeneb } from "@lodestar/params";
import type { fulu } from "@lodestar/types";
import { expect, it, vi } from "vitest";
import { produceWithBlobs } from "../../../test/support/chain/data/blobs.ts";
import { refusalOf, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { sharedKzg as kzg } from "../../../test/support/data/kzg/shared-kzg.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { type DataSidecar, subnetOfSidecar } from "../../data/sidecar.ts";
import { DevBlobs } from "../../dev/dev-blobs.ts";
import { validateBlobSidecar } from "../validation/blob-sidecar.ts";
import { validateColumnSidecar } from "../validation/column-sidecar.ts";
import { blobsOfBlock } from "./blobs-of-block.ts";
import { Custody } from "./custody.ts";
import { DataPool } from "./data-pool.ts";
import { Reconstruction } from "./reconstruction.ts";
import { verifySidecars } from "./verify-sidecars.ts";

// Other tests use hashes as commitments. These tests run all code that uses KZG on a real backend; the slowest one
// takes eight seconds to recover a blob.
vi.setConfig({ testTimeout: 240_000 });

const bundleOf = (fork: ForkPostDeneb, count: number) =>
  new DevBlobs({ config: { getMaxBlobsPerBlock: () => count }, counts: { min: count, max: count } }).bundleFor({
    fork,
    slot: 1,
    parent: { blockHash: new Uint8Array(32), blockNumber: 0 },
  });

it("blob sidecars of electra", async () => {
  const chain = new TestChain("electra");
  chain.clock.set(1);
  const context = { ...chain.context, kzg };
  const block = await produceWithBlobs(chain, 1, { bundle: bundleOf(ForkName.electra, 2) });
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

it("columns of fulu", async () => {
  const chain = new TestChain("fulu");
  chain.clock.set(1);
  const context = { ...chain.context, kzg };
  const block = await produceWithBlobs(chain, 1, { bundle: bundleOf(ForkName.fulu, 1) });
  const columns = block.sidecars as fulu.DataColumnSidecar[];
  await verifySidecars(chain.config, kzg, [{ block, sidecars: columns }]);
  const wrong = structuredClone(columns[3]!);
  wrong.column[0]![5]! ^= 1;
  const among = columns.map((sidecar) => (sidecar.index === 3 ? wrong : sidecar));
  await expect(verifySidecars(chain.config, kzg, [{ block, sidecars: among }])).rejects.toMatchObject({ index: 3 });
  const refusal = await refusalOf(validateColumnSidecar(context, wrong, 3));
  expect(refusal).toMatchObject({ action: "reject", reason: "bad-kzg-proof" });
  await validateColumnSidecar(context, columns[3]!, subnetOfSidecar(chain.config, columns[3]!));

  const odd = columns.filter(({ index }) => index % 2 === 1);
  const source = { kzg, keptColumns: 64, hasColumns: () => true };
  const sidecars = async (_: unknown, indices?: readonly number[]) =>
    odd.filter(({ index }) => indices?.includes(index) ?? true);
  expect(await blobsOfBlock(block, { ...source, sidecars })).toEqual(block.blobs);

  const pool = new DataPool();
  const created = Promise.withResolvers<readonly DataSidecar[]>();
  const reconstruction = new Reconstruction({
    clock: { secondsPerSlot: 12, nowSeconds: () => 0, untilTime: async () => {} },
    forkChoice: chain.forkChoice,
    data: { pool, custody: new Custody(chain.config), kzg },
    sidecars: { publishCreated: created.resolve },
    logger: createRecordingLogger(),
  });
  pool.add({ slot: 1, root: block.root }, odd);
  expect(await created.promise).toEqual(columns.filter(({ index }) => index % 2 === 0));
  reconstruction.close();
  await chain.close();
});
