import { ForkName } from "@lodestar/params";
import { expect, it } from "vitest";
import { DevBlobs } from "../../src/dev/dev-blobs.ts";
import { joinSidecar } from "../../src/evm/pool/sidecar.ts";
import { versionedHashesOf } from "../../src/execution/engine.ts";
import { GWEI, hexOf, openEvmChain, signed } from "../support/chain/evm-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const OTHER = new Uint8Array(20).fill(0x77);

it("includes the blobs of transactions, and returns those of orphaned blocks to the pool", async () => {
  const directory = tempDirectory();
  const opened = await openEvmChain({}, directory);
  const { engine, send, advance, call, chain, expectHealth } = opened;
  await advance(2);
  const blobs = new DevBlobs({ config: chain.config, counts: { min: 1, max: 1 } });
  const bundle = blobs.bundleFor({ fork: ForkName.fulu, slot: 3, parent: { blockHash: OTHER, blockNumber: 0 } });
  const blobVersionedHashes = versionedHashesOf(bundle.commitments).map(hexOf);
  const raw = signed(engine, 4, { type: 3, to: OTHER, blobVersionedHashes, maxFeePerBlobGas: GWEI });
  const sidecar = { version: 1 as const, ...bundle };
  await expect(engine.addTransaction(raw)).rejects.toThrow("missing sidecar in blob transaction");
  await engine.addTransaction(joinSidecar({ raw, sidecar }));
  const transfer = await send(5, { to: OTHER, value: 1n });
  await advance(1);
  expect(engine.head.transactions).toHaveLength(2);
  const readBlobs = () => call("get_v1_beacon_blobs_blockId", ["head"]);
  expect(await readBlobs()).toEqual([hexOf(bundle.blobs[0]!)]);
  const [found] = await engine.getBlobs(ForkName.fulu, versionedHashesOf(bundle.commitments));
  expect(hexOf(found!.blob)).toBe(hexOf(bundle.blobs[0]!));

  const lost = engine.head;
  await call("dev_reorg", { depth: 1 });
  const { head } = engine;
  expect(hexOf(head.hash)).not.toBe(hexOf(lost.hash));
  const included = new Set<string>();
  for (let block = head; block !== engine.blocks.genesis; block = engine.blocks.parentOf(block)!) {
    for (const { hash } of block.transactions) included.add(hexOf(hash));
  }
  expect(included).toContain(hexOf(transfer.hash));
  expect(included.size).toBe(2);
  expect(engine.pool.size).toBe(0);
  expectHealth();

  // The sidecar survives a restart until its transaction is final.
  await opened.abandon();
  const second = await openEvmChain({}, directory);
  const slots = await second.slotsOf(raw);
  await second.call("dev_reorg", { depth: second.chain.head.slot - slots[0]! + 1 });
  const [slot] = await second.slotsOf(raw);
  expect(slot).toBeGreaterThan(slots[0]!);
  expect(await second.call("get_v1_beacon_blobs_blockId", [slot])).toEqual([hexOf(bundle.blobs[0]!)]);
  second.expectHealth();
});
