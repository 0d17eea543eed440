import { Address } from "@ethereumjs/util";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { memoryStore } from "../../../test/support/evm/engine/storage/memory-store.ts";
import { openEth } from "../../../test/support/evm/eth/eth.ts";
import { addressOf } from "../../../test/support/evm/evm.ts";
import { toHex } from "../execution/payload.ts";
import { OldStates } from "./old-states.ts";

const NO_HISTORY = { rootOf: async () => undefined, read: async () => null };
const RECEIVER = addressOf(1);
/** More blocks than the engine keeps after finalization. */
const BLOCKS = 140;

async function openArchived() {
  const { store, stored } = memoryStore();
  const eth = await openEth({ history: NO_HISTORY, store, kzg: { verify: async () => true } });
  const hashes: string[] = [];
  for (let number = 1; number <= BLOCKS; number++) {
    if (number <= 2) {
      const raw = eth.chain.signRaw(0, { to: new Address(RECEIVER), value: BigInt(number), type: number });
      hashes.push((await eth.service.call("sendRawTransaction", { raw })) as string);
    }
    await eth.mine();
  }
  const ask = async () => ({
    block: await eth.service.call("getBlock", { block: { number: 2n }, full: true }),
    receipts: await eth.service.call("getBlockReceipts", { block: { number: 2n } }),
    transaction: await eth.service.call("getTransaction", { hash: hashes[1]! }),
    receipt: await eth.service.call("getReceipt", { hash: hashes[1]! }),
    balances: await Promise.all(
      [0n, 1n, 2n].map((number) => eth.service.call("getBalance", { address: RECEIVER, block: { number } })),
    ),
  });
  return { ...eth, stored, ask };
}

it("reads finalized blocks, receipts and old states as before they left memory", async () => {
  const { engine, setHead, stored, ask } = await openArchived();
  const before = await ask();
  expect(before.balances).toEqual(["0x0", "0x1", "0x3"]);
  await setHead(engine.head, toHex(engine.head.hash));
  await expect.poll(() => stored.archived.length).toBe(BLOCKS);
  const second = toRootHex(Buffer.from(stored.archived[1]!.hash.slice(2), "hex"));
  expect(engine.blocks.get(second)).toBeUndefined();

  const after = await ask();
  expect(after).toEqual(before);
});

it("reports the available states if one is too far from them", async () => {
  const { engine, service, setHead, stored } = await openArchived();
  await setHead(engine.head, toHex(engine.head.hash));
  await expect.poll(() => stored.archived.length).toBe(BLOCKS);
  const block = (await service.chain.find({ number: 5n }))!;
  expect(await new OldStates(engine, 4).find(block)).toBeUndefined();
  const found = await new OldStates(engine, 5).find(block);
  expect(found?.header).toEqual(block.header);
  // Genesis is too far back, and no closer state is archived.
  stored.archived.splice(2, 1);
  const read = service.call("getBalance", { address: RECEIVER, block: { number: 6n } });
  await expect(read).rejects.toThrow("state of block 6 is not available: states are held from block 12 on");
});
