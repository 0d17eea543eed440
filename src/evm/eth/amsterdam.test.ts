import { describe, expect, it } from "vitest";
import { openEth } from "../../../test/support/evm/eth/eth.ts";
import { addressOf, bytesOf, GENESIS_TIME, optionsOf } from "../../../test/support/evm/evm.ts";
import { devAccountKeys } from "../accounts.ts";
import { toHex } from "../execution/payload.ts";

const LATEST = { tag: "latest" } as const;
const NEW_ACCOUNT_GAS = 120 * 1530;
const FROM = devAccountKeys()[0]!.address;
const OTHER = devAccountKeys()[1]!.address;
/** Stores 1 in slot 0, and deploys one byte of zeros. */
const INIT_CODE = bytesOf("60015f5560015ff3");
type Json = Record<string, unknown>;

describe("eth_* on Amsterdam", () => {
  it("has the slot number and the access list of a block", async () => {
    const { service, mine } = await openEth(undefined, optionsOf("amsterdam"));
    const transaction = { from: FROM, to: addressOf(1), value: 5n };
    await service.call("sendTransaction", { transaction });
    const block = await mine();
    const json = (await service.call("getBlock", { block: LATEST })) as Json;
    expect(json).toMatchObject({ slotNumber: "0x1", blockAccessListHash: toHex(block.header.blockAccessListHash!) });
    expect(json.gasUsed).toBe(`0x${NEW_ACCOUNT_GAS.toString(16)}`);
    const list = (await service.call("getBlockAccessList", { block: LATEST })) as Json[];
    const entry = list.find(({ address }) => address === toHex(addressOf(1)));
    expect(entry).toEqual({
      address: toHex(addressOf(1)),
      storageChanges: [],
      storageReads: [],
      balanceChanges: [{ index: "0x1", value: "0x5" }],
      nonceChanges: [],
      codeChanges: [],
    });
    const history = list.find(({ address }) => address === "0x0000f90827f1c53a10cb7a02335b175320002935");
    const [slot] = (history as { storageChanges: Json[] }).storageChanges;
    expect(slot).toEqual({
      key: `0x${"00".repeat(32)}`,
      changes: [{ index: "0x0", value: toHex(block.header.parentHash) }],
    });
    const hash = toHex(block.hash);
    expect(await service.call("getBlockAccessList", { block: { hash } })).toEqual(list);
    expect(await service.call("getRawBlockAccessList", { block: LATEST })).toBe(toHex(block.blockAccessList!));
    expect(await service.call("getBlockAccessList", { block: { number: 7n } })).toBeNull();
  });

  it("has no access list before, and names the contracts of builders in the configuration", async () => {
    const amsterdam = GENESIS_TIME + 600;
    const { service, mine } = await openEth(undefined, optionsOf("osaka", { amsterdam }));
    await mine();
    expect(await service.call("getBlockAccessList", { block: LATEST })).toBeNull();
    expect(await service.call("getRawBlockAccessList", { block: LATEST })).toBeNull();
    const { current, next } = (await service.call("config", {})) as { current: Json; next: Json };
    expect(current.systemContracts).not.toHaveProperty("BUILDER_EXIT_CONTRACT_ADDRESS");
    expect(next).toMatchObject({
      activationTime: amsterdam,
      systemContracts: { BUILDER_DEPOSIT_CONTRACT_ADDRESS: "0x0000bff46984e3725691fa540a8c7589300d8282" },
    });
  });

  it("estimates the gas of transfers exactly, which depends on the recipient, and that of new contracts", async () => {
    const { service, mine } = await openEth(undefined, optionsOf("amsterdam"));
    const estimate = async (to: Uint8Array, value: bigint) =>
      Number((await service.call("estimateGas", { call: { from: FROM, to, value }, block: LATEST })) as string);
    expect(await estimate(addressOf(1), 1n)).toBe(21_000 + NEW_ACCOUNT_GAS);
    expect(await estimate(addressOf(1), 0n)).toBe(15_000);
    expect(await estimate(OTHER, 1n)).toBe(21_000);
    expect(await estimate(FROM, 1n)).toBe(12_000);
    // Without a gas limit, transactions get an estimate, too.
    const transactions = [
      { from: FROM, to: addressOf(1), value: 1n },
      { from: FROM, data: INIT_CODE },
    ];
    for (const transaction of transactions) await service.call("sendTransaction", { transaction });
    const { receipts } = await mine();
    expect(receipts.map(({ succeeded }) => succeeded)).toEqual([true, true]);
    expect(Number(receipts[1]!.gasUsed)).toBeGreaterThan(NEW_ACCOUNT_GAS + 64 * 1530);
  });

  it("rejects transactions below the floor for data, and calls with too little gas", async () => {
    const { service, chain } = await openEth(undefined, optionsOf("amsterdam"));
    const to = undefined;
    const send = (gasLimit: bigint, size: number) =>
      service.call("sendRawTransaction", {
        raw: chain.signRaw(2, { to, gasLimit, nonce: 0n, data: new Uint8Array(size) }),
      });
    await expect(send(23_000n, 1)).rejects.toThrow("intrinsic gas too low");
    await expect(send(80_000n, 1000)).rejects.toThrow(/floor data gas/);
    const call = { from: FROM, to: addressOf(1), data: new Uint8Array(100) };
    expect(await service.call("call", { call: { ...call, gas: 21_400n }, block: LATEST })).toBe("0x");
    await expect(service.call("call", { call: { ...call, gas: 21_399n }, block: LATEST })).rejects.toThrow(/gas/);
  });

  it("calls and simulates contracts that create state", async () => {
    const { service } = await openEth(undefined, optionsOf("amsterdam"));
    expect(await service.call("call", { call: { from: FROM, data: INIT_CODE }, block: LATEST })).toBe("0x00");
    const simulation = { blockStateCalls: [{ calls: [{ from: FROM, data: INIT_CODE }] }] };
    const [simulated] = (await service.call("simulate", { simulation, block: LATEST })) as [Json];
    expect(simulated).toMatchObject({ slotNumber: "0x1", calls: [{ status: "0x1" }] });
  });
});
