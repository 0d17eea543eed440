import { ForkName, type ForkPostBellatrix } from "@lodestar/params";
import { type gloas, ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { GENESIS_TIME, optionsOf, SLOT_SECONDS, TestChain } from "../../../test/support/evm/evm.ts";
import { scenarioTransactions } from "../../../test/support/evm/execution/scenario.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { toHex } from "../execution/payload.ts";
import { EvmEngine } from "./evm-engine.ts";

const ZERO_HASH = `0x${"00".repeat(32)}`;

it("builds payloads of gloas after those of fulu, which another engine executes", async () => {
  const chain = await TestChain.open(optionsOf("osaka", { amsterdam: GENESIS_TIME + 2 * SLOT_SECONDS }));
  const { rules, genesis } = chain;
  const open = () => new EvmEngine({ rules, genesis, secondsPerSlot: SLOT_SECONDS, logger: createRecordingLogger() });
  const [builder, other] = [open(), open()];
  const stateOf = (headBlockHash: string) => ({
    headBlockHash,
    safeBlockHash: ZERO_HASH,
    finalizedBlockHash: ZERO_HASH,
  });
  const buildSlot = async (slot: number, fork: ForkPostBellatrix, parentHash: Uint8Array) => {
    const parentBeaconBlockRoot = new Uint8Array(32).fill(slot);
    const { payloadId } = await builder.forkchoiceUpdated(fork, stateOf(toHex(parentHash)), {
      fork,
      slot,
      parent: { blockHash: parentHash, blockNumber: null },
      parentBeaconBlockRoot,
      timestamp: GENESIS_TIME + slot * SLOT_SECONDS,
      prevRandao: new Uint8Array(32),
      feeRecipient: new Uint8Array(20),
      withdrawals: [],
      ...(fork === ForkName.gloas && { targetGasLimit: 60_000_000 }),
    });
    const built = await builder.getPayload(fork, payloadId!);
    const { executionRequests } = built;
    const context = { parentBeaconBlockRoot, versionedHashes: [], executionRequests };
    expect(await other.notifyNewPayload(fork, built.payload, context)).toEqual({ status: "valid" });
    for (const engine of [builder, other])
      await engine.forkchoiceUpdated(fork, stateOf(toHex(built.payload.blockHash)));
    return { ...built, payload: built.payload as gloas.ExecutionPayload, context };
  };

  const first = await buildSlot(1, ForkName.fulu, genesis.hash);
  expect(first.payload).not.toHaveProperty("slotNumber");
  const second = await buildSlot(2, ForkName.gloas, first.payload.blockHash);
  // Transactions get the gas limits of the fork. Slot 3 is empty.
  await chain.build();
  await chain.build();
  for (const transaction of scenarioTransactions(chain, "amsterdam", 0)) {
    if (transaction.tx.type !== 3) await builder.addTransaction(transaction.raw);
  }
  const { payload, executionRequests, context } = await buildSlot(4, ForkName.gloas, second.payload.blockHash);
  expect(payload.slotNumber).toBe(4);
  expect(payload.gasLimit).toBeGreaterThan(second.payload.gasLimit);
  expect(executionRequests).toMatchObject({ builderDeposits: [{ amount: 2e9 }], builderExits: [{}] });
  expect(ssz.gloas.ExecutionPayload.deserialize(ssz.gloas.ExecutionPayload.serialize(payload))).toEqual(payload);
  const changed = { ...payload, blockAccessList: Uint8Array.of(0xc0) };
  expect(await other.notifyNewPayload(ForkName.gloas, changed, context)).toMatchObject({ status: "invalid" });
  const none = ssz.gloas.ExecutionRequests.defaultValue();
  expect(await other.notifyNewPayload(ForkName.gloas, payload, { ...context, executionRequests: none })).toMatchObject({
    status: "invalid",
  });
  // A gas limit that leaves no room for the access list is raised.
  await builder.override({ gasLimit: 5000n });
  expect((await builder.buildPending(builder.head)).header.gasLimit).toBe(200_000n);
});
