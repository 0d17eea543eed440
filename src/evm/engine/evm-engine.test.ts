import { Address } from "@ethereumjs/util";
import type { RootHex } from "@lodestar/types";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { FORK, openEngines, rootOfSlot, ZERO_HASH } from "../../../test/support/evm/engine/engines.ts";
import { addressOf, DEPOSIT_CONTRACT, hexOf, optionsOf, TestChain } from "../../../test/support/evm/evm.ts";
import { encodeDepositCall } from "../../dev/evm/deposit-call.ts";
import type { PayloadRequest } from "../../execution/engine.ts";
import { devAccountKeys } from "../accounts.ts";
import { asBytes, asList, decode, encode } from "../rlp.ts";
import { DevWallet } from "./dev-wallet.ts";
import { ExecutedBlocks } from "./executed-blocks.ts";
import { hashOfBase } from "./storage/stored-world.ts";

/** Changes the version of the encoded state, the last item in a base. */
function withOtherVersion(base: Uint8Array): Uint8Array {
  const items = asList(decode(base));
  const world = asBytes(items.at(-1)).slice();
  world[0]!++;
  return encode([...items.slice(0, -1), world]);
}

describe("an engine after a restart", () => {
  it("rebuilds the head from stored payloads, or from a stored state", async () => {
    const { open, build, stored, reads } = await openEngines();
    const first = open();
    const hashes: RootHex[] = [];
    for (let slot = 1; slot <= 6; slot++) hashes.push(await build(first, slot));
    expect(stored.base).toBeNull();
    const second = open();
    await second.restore(hashes[5]!);
    expect(hexOf(second.head.header.stateRoot)).toBe(hexOf(first.head.header.stateRoot));
    expect(second.blocks.size).toBe(6);

    hashes.push(await build(second, 7, hashes[4]), await build(second, 8, hashes[5]));
    await expect.poll(() => stored.base).not.toBeNull();
    reads.length = 0;
    const third = open();
    await third.restore(hashes[7]!);
    expect(third.head.header.number).toBe(8n);
    // Only payloads after the fifth block are read, because that block's state is stored.
    expect(new Set(reads)).toEqual(new Set([6, 7, 8].map((slot) => toRootHex(rootOfSlot(slot)))));
  });

  it("stores the state after much gas, less often if it is large", async () => {
    const { chain, open, build, stored } = await openEngines({ baseInterval: { blocks: 1000n, gas: 40_000n } });
    const engine = open();
    let slot = 0;
    let hash = ZERO_HASH;
    /** Finalizes a block containing a transfer that costs 21,000 gas. */
    const finalizeTransfer = async () => {
      const to = new Address(addressOf(5));
      await engine.addTransaction(chain.signRaw(0, { to, value: 1n, gasLimit: 21_000n }));
      hash = await build(engine, ++slot);
      await engine.forkchoiceUpdated(FORK, { headBlockHash: hash, safeBlockHash: hash, finalizedBlockHash: hash });
      await engine.flush();
    };
    await finalizeTransfer();
    expect(stored.base).toBeNull();
    await finalizeTransfer();
    const { base } = stored;
    expect(hashOfBase(base!)).toBe(hash);
    await finalizeTransfer();
    await finalizeTransfer();
    expect(stored.base).toBe(base);
  });

  it.each([
    ["is cut off", (base: Uint8Array) => base.slice(0, -10)],
    ["was written by another version", withOtherVersion],
  ])("executes all payloads again if the stored state %s", async (_, damage) => {
    const { open, build, stored, logger } = await openEngines();
    const first = open();
    const hashes: RootHex[] = [];
    for (let slot = 1; slot <= 6; slot++) hashes.push(await build(first, slot, hashes[slot - 2]));
    await expect.poll(() => stored.base).not.toBeNull();
    stored.base = damage(stored.base!);
    const second = open();
    await second.restore(hashes[5]!);
    expect(second.head.header.number).toBe(6n);
    expect(logger.records.map(({ message }) => message)).toContain(
      "Stored execution state unreadable, executing all payloads again",
    );
  });

  it("loses nothing that it acknowledged while the database cannot be written", async () => {
    const { chain, open, build, stored, failing, logger } = await openEngines();
    const first = open();
    const sent = chain.signRaw(0, { to: new Address(addressOf(5)), value: 1n, gasLimit: 21_000n });
    failing.reason = "no space left on device";
    await expect(first.addTransaction(sent)).rejects.toThrow("no space left on device");
    expect(first.pool.size).toBe(0);
    const hashes: RootHex[] = [];
    for (let slot = 1; slot <= 6; slot++) hashes.push(await build(first, slot, hashes[slot - 2]));
    const isLogged = () => logger.records.some(({ message }) => message === "Storing the execution state failed");
    await expect.poll(isLogged).toBe(true);
    expect([stored.base, stored.transactions.size]).toEqual([null, 0]);

    // The state is stored with the next finalized block.
    failing.reason = undefined;
    await first.addTransaction(sent);
    await build(first, 7, hashes[5]);
    await expect.poll(() => stored.base).not.toBeNull();
    expect(first.head.transactions).toHaveLength(1);
  });

  it("has the pooled transactions that are in no block", async () => {
    const { chain, open, build, stored } = await openEngines();
    const first = open();
    const transfer = () => chain.signRaw(0, { to: new Address(addressOf(5)), value: 1n, gasLimit: 21_000n });
    await first.addTransaction(transfer());
    const hash = await build(first, 1);
    const waiting = await first.addTransaction(transfer());
    expect(stored.transactions.size).toBe(2);
    const second = open();
    await second.restore(hash);
    expect([second.pool.size, stored.transactions.size]).toEqual([1, 1]);
    expect(second.pool.get(waiting.transaction.hash)).toBeDefined();
    const included = await build(second, 2);
    await build(second, 3, included);
    await expect.poll(() => stored.transactions.size).toBe(0);
  });

  it("does not know a block whose payload is not stored", async () => {
    const { open, build } = await openEngines();
    const first = open();
    await build(first, 1);
    const unknown = toRootHex(new Uint8Array(32).fill(9));
    const state = { headBlockHash: unknown, safeBlockHash: ZERO_HASH, finalizedBlockHash: ZERO_HASH };
    const { verdict } = await first.forkchoiceUpdated(FORK, state);
    expect(verdict).toEqual({ status: "optimistic" });
    expect(first.head.header.number).toBe(1n);
    await expect(first.getPayload(FORK, "0x99")).rejects.toThrow("Unknown payload id 0x99");
  });
});

it("includes at least one transaction, and no more after the time of a request", async () => {
  const { chain, open, requestOf } = await openEngines();
  const engine = open();
  for (let count = 0; count < 3; count++) {
    await engine.addTransaction(chain.signRaw(0, { to: new Address(addressOf(5)), value: 1n, gasLimit: 21_000n }));
  }
  const headBlockHash = toRootHex(engine.head.hash);
  const state = { headBlockHash, safeBlockHash: ZERO_HASH, finalizedBlockHash: ZERO_HASH };
  const included = async (limit: Pick<PayloadRequest, "fillingMs">) => {
    const request = { ...requestOf(1, engine.head), ...limit };
    const { payloadId } = await engine.forkchoiceUpdated(FORK, state, request);
    return (await engine.getPayload(FORK, payloadId!)).payload.transactions.length;
  };
  expect([await included({ fillingMs: 0 }), await included({ fillingMs: 60_000 }), await included({})]).toEqual([
    1, 3, 3,
  ]);
});

it("archives final blocks that are no longer in memory", async () => {
  const { open, build, stored, logger } = await openEngines({ maxBlocks: 3 });
  const engine = open();
  const hashes: RootHex[] = [];
  for (let slot = 1; slot <= 8; slot++) hashes.push(await build(engine, slot));
  expect(engine.blocks.get(hashes[4]!)).toBeUndefined();
  await build(engine, 9, hashes[6]);
  await engine.flush();
  expect(stored.archived.map(({ hash }) => hash)).toEqual(hashes.slice(0, 7));
  expect(engine.blocks.size).toBe(3);
  expect(logger.records).toEqual([]);
});

it("warns about final blocks that it cannot archive, and goes on", async () => {
  const { open, build, stored, payloads, logger } = await openEngines({ maxBlocks: 3 });
  const engine = open();
  const hashes: RootHex[] = [];
  for (let slot = 1; slot <= 8; slot++) hashes.push(await build(engine, slot));
  payloads.delete(toRootHex(rootOfSlot(3)));
  await build(engine, 9, hashes[6]);
  await engine.flush();
  expect(stored.archived.map(({ number }) => number)).toEqual([6, 7]);
  expect(logger.records).toMatchObject([
    { message: "Finalized execution blocks missing in the archive", fields: { from: 1, to: 5 } },
  ]);
});

it("reads the logs of the deposit contract from archived blocks, too", async () => {
  const { open, build } = await openEngines({ maxBlocks: 3 });
  const engine = open();
  const wallet = new DevWallet(engine);
  const deposit = { ...ssz.phase0.DepositData.defaultValue(), amount: 32_000_000_000 };
  await wallet.send(devAccountKeys()[0]!.address, {
    to: DEPOSIT_CONTRACT,
    data: encodeDepositCall(deposit),
    value: 32n * 10n ** 18n,
    gasLimit: 300_000n,
  });
  const first = await build(engine, 1);
  let last = first;
  for (let slot = 2; slot <= 6; slot++) last = await build(engine, slot, last);
  await engine.flush();
  expect(engine.blocks.get(first)).toBeUndefined();
  const logs = await wallet.depositLogs(DEPOSIT_CONTRACT, last, 0);
  expect(logs).toMatchObject([{ blockNumber: 1, blockHash: first }]);
  expect(await wallet.depositLogs(DEPOSIT_CONTRACT, last, 1)).toEqual([]);
  const unknown = toRootHex(new Uint8Array(32).fill(9));
  expect(await wallet.depositLogs(DEPOSIT_CONTRACT, unknown, 0)).toBeUndefined();
});

it("keeps a bounded number of executed blocks", async () => {
  const chain = await TestChain.open(optionsOf("osaka"));
  const blocks = new ExecutedBlocks(chain.genesis, 3);
  const built = [];
  for (let number = 1; number <= 5; number++) {
    built.push(await chain.build());
    blocks.add(chain.head);
  }
  expect(blocks.size).toBe(3);
  expect(blocks.get(toRootHex(chain.genesis.hash))).toBe(chain.genesis);
  expect(blocks.get(toRootHex(built[1]!.hash))).toBeUndefined();
  expect(blocks.parentOf(built[4]!)).toBe(built[3]);
});
