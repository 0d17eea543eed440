import { SecretKey } from "@chainsafe/blst";
import { ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { electra, phase0 } from "@lodestar/types";
import { expect, it } from "vitest";
import { encodeDepositCall } from "../../src/dev/evm/deposit-call.ts";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import { signDeposit } from "../../src/dev/genesis-deposits.ts";
import { CONSOLIDATION_REQUESTS, WITHDRAWAL_REQUESTS } from "../../src/evm/system-addresses.ts";
import { account, bytesOf, hexOf, openEvmChain, signedBlob } from "../support/chain/evm-chain.ts";
import { expectVerified } from "./evm-verifier.ts";

const RECEIVER = new Uint8Array(20).fill(0x77);
const STAKE = 32n * 10n ** 18n;
/** Stores the number of the block at slot 0, emits a log, and deploys nothing. */
const LOGGING = bytesOf("4360005560006000a000");
const LADDER: ScheduledFork[] = [
  { fork: "bellatrix", epoch: 0 },
  { fork: "capella", epoch: 1 },
  { fork: "deneb", epoch: 2 },
  { fork: "electra", epoch: 3 },
  { fork: "fulu", epoch: 4 },
];

type EvmChain = Awaited<ReturnType<typeof openEvmChain>>;

/** Sends a transaction with one blob, in the form that a fork needs. */
async function sendBlob({ engine, chain }: EvmChain, fork: ForkName.deneb | ForkName.fulu) {
  const signed = signedBlob(engine, 3, { config: chain.config, slot: chain.clock.currentSlot + 1, fork });
  await engine.addTransaction(signed.sent);
  return signed;
}

it("executes transactions in every slot around each fork, and a second engine comes to the same states", async () => {
  const opened = await openEvmChain({ forks: LADDER });
  const { advance, send, call, balance, engine, devChain, expectHealth } = opened;
  const blobs = new Map<number, string>();
  let transferred = 0n;
  for (let slot = 1; slot <= 5 * SLOTS_PER_EPOCH; slot++) {
    const isNearFork = slot % SLOTS_PER_EPOCH <= 1 || slot % SLOTS_PER_EPOCH === SLOTS_PER_EPOCH - 1;
    if (isNearFork) {
      await send(0, { to: RECEIVER, value: 1n, type: 0 });
      await send(1, { to: RECEIVER, value: 1n, type: 1 });
      transferred += 2n;
      await send(2, { data: LOGGING });
      const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
      if (epoch >= 2) {
        const { blob } = await sendBlob(opened, epoch >= 4 ? ForkName.fulu : ForkName.deneb);
        blobs.set(slot, hexOf(blob));
      }
    }
    await advance(1);
    expect(engine.head.receipts.map(({ succeeded }) => succeeded)).not.toContain(false);
    expect(engine.pool.size, `slot ${slot}`).toBe(0);
  }
  expect(balance(RECEIVER)).toBe(transferred);
  for (const [slot, blob] of blobs) {
    expect(await call("get_v1_beacon_blobs_blockId", [slot]), `slot ${slot}`).toEqual([blob]);
  }
  const verifier = await expectVerified(devChain);
  const { stateRoot } = engine.head.header;
  expect(hexOf(verifier.blocks.get(hexOf(engine.head.hash))!.header.stateRoot)).toBe(hexOf(stateRoot));
  expectHealth();
});

it("drops transactions of electra with blobs that a reorganisation returns in fulu: they have no cell proofs", async () => {
  const other = await openEvmChain({
    forks: [
      { fork: "electra", epoch: 0 },
      { fork: "fulu", epoch: 2 },
    ],
  });
  await other.advance(2 * SLOTS_PER_EPOCH - 2);
  const { raw } = await sendBlob(other, ForkName.deneb);
  await other.send(0, { to: RECEIVER, value: 5n });
  await other.advance(2);
  expect(await other.slotsOf(raw)).toEqual([2 * SLOTS_PER_EPOCH - 1]);
  await other.call("dev_reorg", { depth: 2 });
  expect([other.balance(RECEIVER), other.engine.pool.size]).toEqual([5n, 0]);
  expect(await other.slotsOf(raw)).toEqual([]);
  await expectVerified(other.devChain);
  other.expectHealth();
});

it("takes requests and deposits in the slots around the start of electra", async () => {
  const epoch = 5;
  const opened = await openEvmChain({
    forks: [
      { fork: "deneb", epoch: 0 },
      { fork: "electra", epoch },
    ],
  });
  const { advance, send, call, chain, devChain, engine, status, validator, payload, expectHealth } = opened;
  const start = epoch * SLOTS_PER_EPOCH;
  await advance(start - 2);
  const pubkeyOf = (index: number) => devChain.keys.publicKey(index)!;
  /** Sends a request to exit, one for compounding credentials and a deposit. Returns what the block has of them. */
  const runSlot = async (seed: number) => {
    await send(9, { to: WITHDRAWAL_REQUESTS, data: Buffer.concat([pubkeyOf(seed), new Uint8Array(8)]), value: 1n });
    await send(9, { to: CONSOLIDATION_REQUESTS, data: Buffer.concat([pubkeyOf(8), pubkeyOf(8)]), value: 1n });
    await send(0, { to: chain.config.DEPOSIT_CONTRACT_ADDRESS, ...depositCall(opened, seed) });
    await advance(1);
    const { message } = (await chain.blocks.signedByRoot(chain.head.root))!;
    const { executionRequests } = message.body as electra.BeaconBlockBody;
    const results = engine.head.transactions.map(({ sender }, index) => [
      sender.toString() === hexOf(account(0).address) ? "deposit" : "request",
      engine.head.receipts[index]!.succeeded,
    ]);
    return {
      results: Object.fromEntries(results),
      requests: executionRequests && {
        deposits: executionRequests.deposits.map(({ index }) => index),
        withdrawals: executionRequests.withdrawals.length,
        consolidations: executionRequests.consolidations.length,
      },
    };
  };
  // The contracts take requests once they have run at the end of a block.
  expect(await runSlot(1)).toEqual({ results: { deposit: true, request: false }, requests: undefined });
  expect(chain.config.getForkName(chain.head.slot)).toBe(ForkName.deneb);
  expect(await runSlot(2)).toEqual({
    results: { deposit: true, request: false },
    requests: { deposits: [1n], withdrawals: 0, consolidations: 0 },
  });
  expect([chain.head.slot, await status(1), await status(2)]).toEqual([start, "active_ongoing", "active_ongoing"]);
  expect(await runSlot(3)).toEqual({
    results: { deposit: true, request: true },
    requests: { deposits: [2n], withdrawals: 1, consolidations: 1 },
  });
  expect([await status(1), await status(2), await status(3)]).toEqual([
    "active_ongoing",
    "active_ongoing",
    "active_exiting",
  ]);
  expect((await validator(8)).validator.withdrawal_credentials).toMatch(/^0x02/);

  // The deposit before electra needs a vote, and the others wait for it.
  const pubkeys = [1, 2, 3].map((seed) => hexOf(depositKey(seed).toPublicKey().toBytes()));
  await call("dev_advance", { until: { validator: pubkeys[2], status: "active_ongoing" }, limit: 200 });
  const registered = await Promise.all([16, 17, 18].map(async (index) => (await validator(index)).validator.pubkey));
  expect(registered).toEqual(pubkeys);
  expect((await payload()).blockNumber).toBe(chain.head.slot);
  await expectVerified(devChain);
  expectHealth();
});

const depositKey = (seed: number) => SecretKey.fromKeygen(new Uint8Array(32).fill(seed));

/** Call of the deposit contract for a validator that does not belong to the chain. */
function depositCall({ chain }: EvmChain, seed: number) {
  const secretKey = depositKey(seed);
  const deposit: phase0.DepositData = signDeposit(chain.config, secretKey, {
    pubkey: secretKey.toPublicKey().toBytes(),
    withdrawalCredentials: new Uint8Array(32).fill(1, 0, 1),
    amount: 32e9,
  });
  return { data: encodeDepositCall(deposit), value: STAKE };
}
