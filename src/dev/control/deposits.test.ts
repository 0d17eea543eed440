import { MAX_DEPOSITS, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type electra, type phase0, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { ControlError } from "../../api/dev-control.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { devChainConfig } from "../chain-config.ts";
import type { ScheduledFork } from "../forks.ts";
import { createDevGenesis } from "../genesis.ts";
import { blsWithdrawalCredentials, signDeposit } from "../genesis-deposits.ts";
import type { GenesisParameters } from "../genesis-parameters.ts";
import { RegisteredKeys } from "../registered-keys.ts";
import { VOTING_PERIOD } from "./deposit-log.ts";
import { DevDeposits } from "./deposits.ts";
import type { ExecutionRequestSink } from "./execution-requests.ts";
import { DevOperations } from "./operations.ts";
import type { DevTime } from "./time.ts";

const AMOUNT = 32e9;
const COUNT = 2;

interface SceneOptions {
  forks?: readonly ScheduledFork[];
  /** Slot of the state, set without any transition. */
  slot?: number;
  /** Number of deposits in the log. */
  depositCount?: number;
  /** Greater than 0 if deposits are made by transaction. */
  delaySlots?: number;
  withdrawals?: GenesisParameters["withdrawals"];
}

/** Creates deposits on a chain with two validators. Records what reaches the log and the request queue. */
function scene({
  forks = [{ fork: "electra", epoch: 0 }],
  slot = 0,
  depositCount = 0,
  delaySlots = 0,
  withdrawals,
}: SceneOptions = {}) {
  const chainConfig = devChainConfig({ forks, slotSeconds: 2, genesisTime: 0 });
  const genesis = createDevGenesis({ chainConfig, validatorCount: COUNT, genesisTime: 0 });
  const state = genesis.state.clone() as CachedBeaconStateAllForks;
  state.slot = slot;
  const keys = new RegisteredKeys(genesis.keys, { headState: state });
  const logged: phase0.DepositData[] = [];
  const queued: { deposits: readonly phase0.DepositData[]; firstIndex: number }[] = [];
  const chain = {
    config: genesis.config,
    eth1: { deposits: { depositCount } },
    head: {},
    headNode: { payloadStatus: "full" },
    payloadStore: { get: async () => null },
  } as unknown as BeaconChain;
  const log = {
    delaySlots,
    deposits: async () => logged,
    ...(delaySlots === 0 && {
      add: async (deposits: readonly phase0.DepositData[]) => void logged.push(...deposits),
    }),
  };
  const requests = {
    pendingDeposits: async () => queued.flatMap(({ deposits }) => deposits),
    addDeposits: async (deposits: phase0.DepositData[], firstIndex: number): Promise<electra.DepositRequest[]> => {
      queued.push({ deposits, firstIndex });
      return deposits.map((deposit, n) => ({ ...deposit, index: BigInt(firstIndex + n) }));
    },
  } as unknown as ExecutionRequestSink;
  const deposits = new DevDeposits({ chain, keys, requests, log, withdrawals });
  const make = (count: number, hasInvalidSignature = false) =>
    deposits.newValidators(state, count, { amount: AMOUNT }, hasInvalidSignature);
  return { deposits, state, keys, logged, queued, make, config: genesis.config };
}

const pubkeysOf = (deposits: readonly phase0.DepositData[]) => deposits.map(({ pubkey }) => pubkey);

it("gives new validators the credentials that the chain has without a range", async () => {
  const address = `0x${"5b".repeat(20)}`;
  const withdrawals = [
    { range: { first: 0, last: 1 }, value: { prefix: "0x00" } },
    { value: { prefix: "0x02", address } },
  ] as const;
  const [deposit] = await scene({ withdrawals }).make(1);
  expect(toHex(deposit!.withdrawalCredentials)).toBe(`0x02${"00".repeat(11)}${address.slice(2)}`);
});

it("signs deposits with the keys of the next indices, and their own BLS credentials", async () => {
  const { make, keys, config } = scene();
  const created = await make(2);
  const expected = [COUNT, COUNT + 1].map((index) => {
    const { secretKey, publicKey: pubkey } = keys.keyPair(index);
    const withdrawalCredentials = blsWithdrawalCredentials(pubkey);
    return signDeposit(config, secretKey, { pubkey, withdrawalCredentials, amount: AMOUNT });
  });
  expect(created).toEqual(expected);
});

it.each<[string, ScheduledFork[]]>([
  ["the request queue", [{ fork: "electra", epoch: 0 }]],
  ["the deposit log", []],
])("skips indices whose deposit waits in %s", async (_, forks) => {
  const { make, keys, deposits, state } = scene({ forks });
  await deposits.submit(state, await make(2));
  expect(pubkeysOf(await make(1))).toEqual([keys.keyPair(COUNT + 2).publicKey]);
});

it("does not skip an index whose deposit has an invalid signature", async () => {
  const { make, keys, deposits, state, config } = scene();
  const [invalid] = await make(1, true);
  const { secretKey, publicKey } = keys.keyPair(COUNT);
  expect(invalid!.pubkey).toEqual(publicKey);
  expect(invalid!.signature).not.toEqual(signDeposit(config, secretKey, invalid!).signature);
  await deposits.submit(state, [invalid!]);
  expect(pubkeysOf(await make(1))).toEqual([publicKey]);
});

it("signs a top-up with the key of the validator, and with another if it is unknown", () => {
  const { deposits, keys, config } = scene();
  const { pubkey, withdrawalCredentials } = { pubkey: new Uint8Array(48), withdrawalCredentials: new Uint8Array(32) };
  const message = { pubkey, withdrawalCredentials, amount: AMOUNT };
  expect(deposits.topUp(1, message, false)).toEqual(signDeposit(config, keys.secretKey(1)!, message));
  expect(deposits.topUp(1, message, true)).toEqual(deposits.topUp(COUNT, message, false));
});

it.each([
  [0, COUNT],
  [7, 7],
])("with %i logged deposits, numbers requests from %i on", async (depositCount, firstIndex) => {
  const { deposits, state, make, queued } = scene({ depositCount });
  const submitted = await deposits.submit(state, await make(2));
  expect(queued.map(({ firstIndex }) => firstIndex)).toEqual([firstIndex]);
  expect(submitted).toMatchObject([
    { type: "deposit_request", status: "queued", data: { index: String(firstIndex) } },
    { type: "deposit_request", status: "queued", data: { index: String(firstIndex + 1) } },
  ]);
});

/** The vote on a deposit at slot 0 is decided in the middle of the next period. */
const VOTED = VOTING_PERIOD * 1.5;
const FULU_EPOCH = VOTED / SLOTS_PER_EPOCH + 1;
const BLOCKS_BEFORE_FULU = SLOTS_PER_EPOCH - 1;

it.each([
  ["as many deposits as fit into the blocks before fulu", BLOCKS_BEFORE_FULU * MAX_DEPOSITS, FULU_EPOCH, undefined],
  ["one more", BLOCKS_BEFORE_FULU * MAX_DEPOSITS + 1, FULU_EPOCH, VOTED + SLOTS_PER_EPOCH],
  ["a deposit whose vote ends with fulu", 1, FULU_EPOCH - 1, VOTED + 1],
])("before fulu: %s (%i)", async (_, count, fuluEpoch, tooLate) => {
  const forks: ScheduledFork[] = [
    { fork: "electra", epoch: fuluEpoch - 1 },
    { fork: "fulu", epoch: fuluEpoch },
  ];
  const { deposits, state, logged } = scene({ forks });
  const [data] = await scene({ forks }).make(1);
  const submitting = deposits.submit(state, new Array(count).fill(data));
  const refusal = await submitting.then(
    () => undefined,
    (error: unknown) => (error instanceof ControlError ? error.message : error),
  );
  expect(refusal).toBe(
    tooLate === undefined
      ? undefined
      : `The eth1 vote on the deposit would end at slot ${tooLate}, but fulu, which has no eth1 votes, activates at ` +
          `slot ${fuluEpoch * SLOTS_PER_EPOCH}. ` +
          `Make the deposit at slot ${(fuluEpoch - 1) * SLOTS_PER_EPOCH} (electra) or later.`,
  );
  expect(logged).toHaveLength(tooLate === undefined ? count : 0);
});

it("makes deposits before electra by transaction if the log takes none, and in time for their vote", async () => {
  const forks: ScheduledFork[] = [
    { fork: "deneb", epoch: 0 },
    { fork: "electra", epoch: 9 },
    { fork: "fulu", epoch: 12 },
  ];
  const { deposits, state, make, logged, queued } = scene({ forks, slot: 7, delaySlots: 24 });
  const created = await make(1);
  expect(await deposits.submit(state, created)).toMatchObject([{ type: "deposit_data", status: "queued" }]);
  expect([logged, queued.map((each) => each.deposits)]).toEqual([[], [created]]);
  const late = scene({ forks, slot: 40, delaySlots: 24 });
  await expect(late.deposits.submit(late.state, await late.make(1))).rejects.toThrow("would end at slot 113");
});

it("only signs deposits that are not to be submitted, also of the same validator again", async () => {
  const { deposits, state, keys, make, logged, queued, config } = scene();
  const chain = {
    config,
    head: { root: "", slot: 0 },
    clock: { currentSlot: 0 },
    states: { afterBlock: async () => state },
  } as unknown as BeaconChain;
  const time = { exclusive: <T>(work: () => Promise<T>) => work() } as DevTime;
  const operations = new DevOperations({ chain, time, keys, deposits, requests: undefined } as never);
  const deposit = (isSubmitted: boolean) =>
    operations.deposit({
      receiver: { newValidators: 2 },
      amount: BigInt(AMOUNT),
      hasInvalidSignature: false,
      isSubmitted,
    });
  const created = await make(2);
  const data = created.map((each) => ssz.phase0.DepositData.toJson(each));
  const roots = created.map((each) => toHex(ssz.phase0.DepositData.hashTreeRoot(each)));
  const signed = data.map((each, index) => ({
    type: "deposit_data",
    status: "signed",
    data: each,
    depositDataRoot: roots[index],
  }));
  expect(await deposit(false)).toEqual(signed);
  expect(await deposit(false)).toEqual(signed);
  expect([logged, queued]).toEqual([[], []]);
  expect(await deposit(true)).toMatchObject(data.map(({ pubkey }) => ({ status: "queued", data: { pubkey } })));
});
