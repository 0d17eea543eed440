import { SecretKey } from "@chainsafe/blst";
import { EPOCHS_PER_ETH1_VOTING_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateElectra } from "@lodestar/state-transition";
import type { phase0 } from "@lodestar/types";
import { expect, it } from "vitest";
import { encodeDepositCall } from "../../src/dev/evm/deposit-call.ts";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import { signDeposit } from "../../src/dev/genesis-deposits.ts";
import { GWEI, hexOf, openEvmChain } from "../support/chain/evm-chain.ts";

const VOTING_PERIOD = EPOCHS_PER_ETH1_VOTING_PERIOD * SLOTS_PER_EPOCH;
const STAKE = 32n * 10n ** 18n;

type EvmChain = Awaited<ReturnType<typeof openEvmChain>>;

/** A deposit of a validator that does not belong to the chain. */
function foreignDeposit({ chain }: EvmChain, seed: number): phase0.DepositData {
  const secretKey = SecretKey.fromKeygen(new Uint8Array(32).fill(seed));
  return signDeposit(chain.config, secretKey, {
    pubkey: secretKey.toPublicKey().toBytes(),
    withdrawalCredentials: new Uint8Array(32).fill(1, 0, 1),
    amount: 32e9,
  });
}

it("votes for deposits of the contract before electra, and processes them as requests after", async () => {
  const forks: ScheduledFork[] = [
    { fork: "deneb", epoch: 0 },
    { fork: "electra", epoch: 7 },
  ];
  const opened = await openEvmChain({ forks });
  const { advance, call, send, chain, validator, devChain, expectHealth } = opened;
  await advance(3);
  const foreign = foreignDeposit(opened, 1);
  await send(0, { to: chain.config.DEPOSIT_CONTRACT_ADDRESS, data: encodeDepositCall(foreign), value: STAKE });
  await advance(1);
  const [own] = await call("dev_deposit", { count: 1 });
  expect(own).toMatchObject({ type: "deposit_data", status: "queued" });
  await advance(1);
  // Neither is processed twice, and neither is pooled or finalized yet.
  const [next] = await call("dev_deposit", { count: 1 });
  expect(new Set([own.data.pubkey, next.data.pubkey, hexOf(foreign.pubkey)]).size).toBe(3);
  await call("dev_advance", { until: { slot: VOTING_PERIOD - 1 } });
  // They are finalized, but not voted for.
  const [late] = await call("dev_deposit", { count: 1 });
  expect([own.data.pubkey, next.data.pubkey]).not.toContain(late.data.pubkey);
  await call("dev_advance", { until: { slot: 1.5 * VOTING_PERIOD } });
  const { headState } = chain;
  expect([headState.eth1DepositIndex, headState.validators.length]).toEqual([3, 19]);
  expect(headState.eth1Data.depositCount).toBe(3n);
  const pubkeys = await Promise.all([16, 17, 18].map(async (index) => (await validator(index)).validator.pubkey));
  expect(pubkeys).toEqual([hexOf(foreign.pubkey), own.data.pubkey, next.data.pubkey]);
  expect(devChain.control.keys.indices.slice(16)).toEqual([17, 18]);

  // In electra, votes continue until all deposits before the first request are processed.
  await call("dev_advance", { until: { epoch: 7 } });
  await advance(1);
  const [request] = await call("dev_deposit", { count: 1 });
  expect(request).toMatchObject({ type: "deposit_request", data: { index: "4" } });
  expect(request.data.pubkey).not.toBe(late.data.pubkey);
  await call("dev_advance", { until: { slot: 2.5 * VOTING_PERIOD } });
  const { eth1DepositIndex, depositRequestsStartIndex } = chain.headState as CachedBeaconStateElectra;
  expect([eth1DepositIndex, depositRequestsStartIndex]).toEqual([4, 4n]);
  expectHealth();
});

it("numbers the deposits of dev_deposit after those that are pooled, and recognises its keys", async () => {
  const opened = await openEvmChain();
  const { advance, call, send, chain, devChain, until, validator, status, expectHealth } = opened;
  const to = chain.config.DEPOSIT_CONTRACT_ADDRESS;
  const deposit = (from: number, data: phase0.DepositData, fields = {}) =>
    send(from, { to, data: encodeDepositCall(data), value: STAKE, ...fields });
  const [first, second, later] = [1, 2, 3].map((seed) => foreignDeposit(opened, seed));
  // The second deposit has to wait for a transaction that pays less.
  await deposit(0, first!, { maxPriorityFeePerGas: 5n * GWEI });
  await send(1, { to: new Uint8Array(20), maxPriorityFeePerGas: GWEI });
  await deposit(1, second!, { maxPriorityFeePerGas: 5n * GWEI });
  // Cannot be included: its sender has skipped a nonce.
  await deposit(2, foreignDeposit(opened, 4), { nonce: 1n });
  const made = await call("dev_deposit", { count: 2 });
  expect(made.map(({ data }: { data: phase0.DepositData & { index: string } }) => data.index)).toEqual(["2", "3"]);
  // Pays more than the transactions of dev_deposit, and comes first.
  await deposit(3, later!, { maxPriorityFeePerGas: 10n * GWEI });
  await advance(56);
  await until(20, "active_ongoing");
  const pubkeys = await Promise.all(
    [16, 17, 18, 19, 20].map(async (index) => (await validator(index)).validator.pubkey),
  );
  const entered = [later, first, second].map((each) => hexOf(each!.pubkey));
  expect(pubkeys).toEqual([...entered, ...made.map(({ data }: { data: { pubkey: string } }) => data.pubkey)]);
  expect(await status(18)).toBe("active_ongoing");
  // The validators of dev_deposit attest, whatever their index. The others are offline.
  expect(devChain.control.keys.indices.slice(16)).toEqual([19, 20]);
  await advance(16);
  const balances = await Promise.all([16, 19, 20].map(async (index) => Number((await validator(index)).balance)));
  // Rewards above 32 ETH are withdrawn.
  expect(balances.map((balance) => balance >= 32e9)).toEqual([false, true, true]);
  expectHealth();
});
