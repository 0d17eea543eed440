import { join } from "node:path";
import { EPOCHS_PER_ETH1_VOTING_PERIOD, SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateAltair, CachedBeaconStateElectra } from "@lodestar/state-transition";
import type { BeaconBlock, electra, SignedBeaconBlock } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { describe, expect, it, onTestFinished } from "vitest";
import { initialiseDatabase } from "../../src/chain/anchor.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { ByHand } from "../support/by-hand.ts";
import { Caller } from "../support/caller.ts";
import { openDevChain } from "../support/dev-chain.ts";
import { ExecutionClient } from "../support/execution-client.ts";
import { openFollower } from "../support/follower.ts";
import { Program } from "../support/program.ts";
import { ProgramHere } from "../support/program-here.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const ETHER = 10 ** 9;
const VALIDATORS = 16;
const ADDRESS = `0x${"ad".repeat(20)}`;
const VOTING_PERIOD = EPOCHS_PER_ETH1_VOTING_PERIOD * SLOTS_PER_EPOCH;
const FULU: ScheduledFork[] = [{ fork: "fulu", epoch: 0 }];
const CODES = { invalid: -32602, absent: -32001, rejected: -32003 };

type Params = unknown[] | Record<string, unknown>;

/** A chain that only goes on when it is told to. */
async function open(forks: ScheduledFork[], directory = tempDirectory(), options: Partial<DevNodeOptions> = {}) {
  const opened = await openDevChain({ validators: VALIDATORS, forks, speed: 0, ...options }, directory);
  const { devChain, complaints } = opened;
  const { chain } = devChain;
  const caller = new Caller(devChain.api);
  const validator = (index: number) =>
    caller.call("get_v1_beacon_states_stateId_validators_validatorId", ["head", index]);
  return {
    ...opened,
    chain,
    call: (name: string, params?: Params) => caller.call(name, params),
    error: (name: string, params?: Params) => caller.error(name, params),
    advance: (slots: number) => caller.call("dev_advance", { slots }),
    until: (index: number, status: string) =>
      caller.call("dev_advance", { until: { validator: index, status }, limit: 200 }),
    validator,
    status: async (index: number): Promise<string> => (await validator(index)).status,
    balance: async (index: number): Promise<number> => Number((await validator(index)).balance),
    /** Nobody complained, but for proposers that are slashed. */
    expectHealth: () => expect(complaints.filter((line) => !line.includes("is slashed"))).toEqual([]),
    /** Another node that knows nothing but the genesis comes to the same state. */
    async expectFollowed() {
      const genesis = (await chain.states.genesis())!;
      const db = await openDatabase(join(tempDirectory(), "beacon-db"), { sync: false });
      onTestFinished(() => db.close());
      await initialiseDatabase(db, devChain.config, { state: genesis }, {});
      const follower = await openFollower(db, devChain, chain.clock.currentSlot);
      onTestFinished(() => follower.close());
      const blocks: SignedBeaconBlock[] = [];
      for (let slot = 1; slot <= chain.head.slot; slot++) {
        const block = await chain.blocks.canonicalAtSlot(slot);
        if (block) blocks.push(block.signed);
      }
      await follower.importSegment(blocks);
      expect(follower.head.root).toBe(chain.head.root);
    },
  };
}

type Controlled = Awaited<ReturnType<typeof open>>;

async function expectRefusals({ error }: Controlled, refusals: [string, Params, number, RegExp][]): Promise<void> {
  for (const [name, params, code, message] of refusals) {
    expect(await error(name, params), `${name} ${JSON.stringify(params)}`).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  }
}
it("a deposit is refused whose vote would not be over before fulu, and one before that enters", async () => {
  const forks: ScheduledFork[] = [
    { fork: "deneb", epoch: 0 },
    { fork: "electra", epoch: 6 },
    { fork: "fulu", epoch: 7 },
  ];
  const { call, error, advance, chain } = await open(forks);
  await advance(1);
  await call("dev_deposit");
  await advance(39);
  expect(await error("dev_deposit")).toMatchObject({
    code: CODES.rejected,
    message: expect.stringMatching(/fulu begins at slot 56.* make it at slot 48 or later/),
  });
  await advance(8);
  const [queued] = await call("dev_deposit");
  expect(queued).toMatchObject({ status: "queued" });
  await advance(3 * SLOTS_PER_EPOCH);
  expect(chain.headState.validators.length).toBe(VALIDATORS + 2);
});

it("what votes is never more than the whole stake, also when most of it leaves", async () => {
  const { call, advance } = await open(FULU, tempDirectory(), { configOverrides: { SHARD_COMMITTEE_PERIOD: "0" } });
  await advance(SLOTS_PER_EPOCH);
  for (let index = 0; index < VALIDATORS - 2; index++) await call("dev_exit", [index]);
  const seen = new Set<string>();
  for (let epoch = 0; epoch < 10; epoch++) {
    await advance(SLOTS_PER_EPOCH);
    const { previous_epoch, active_validators } = await call("getParticipation");
    expect(previous_epoch).toBe(1);
    seen.add(active_validators);
  }
  expect(seen.size).toBeGreaterThan(1);
});

describe("operations of a chain in fulu", () => {
  it("take effect by the ordinary rules, up to the last withdrawal, and other nodes agree", async () => {
    const chain = await open(FULU);
    const { call, advance, status, balance, validator } = chain;
    const headState = () => chain.chain.headState as CachedBeaconStateElectra;
    const [LEAVES, COMPOUNDS, SOURCE, TARGET] = [8, 9, 10, 11];

    for (const index of [LEAVES, COMPOUNDS, SOURCE, TARGET]) {
      expect(await call("dev_changeCredentials", [index, ADDRESS])).toMatchObject({
        type: "bls_to_execution_change",
        status: "pooled",
        data: { message: { validator_index: String(index), to_execution_address: ADDRESS } },
      });
    }
    await advance(1);
    for (const index of [COMPOUNDS, TARGET]) {
      const { validator: before } = await validator(index);
      expect(before.withdrawal_credentials).toBe(`0x01${"00".repeat(11)}${ADDRESS.slice(2)}`);
      expect(await call("dev_changeCredentials", { validator: before.pubkey, type: "0x02" })).toMatchObject({
        type: "consolidation_request",
        status: "queued",
        data: { source_pubkey: before.pubkey, target_pubkey: before.pubkey },
      });
    }
    await expectRefusals(chain, [
      ["dev_exit", [4], CODES.rejected, /Validator 4 cannot exit before epoch 4: .*SHARD_COMMITTEE_PERIOD/],
      ["dev_withdraw", [LEAVES], CODES.rejected, /Validator 8 cannot exit before epoch 4/],
      ["dev_withdraw", [4], CODES.rejected, /name no address .* dev_changeCredentials/],
      ["dev_consolidate", [SOURCE, COMPOUNDS], CODES.rejected, /The target of a consolidation needs compounding/],
      ["dev_changeCredentials", [LEAVES, ADDRESS], CODES.rejected, /execution credentials already.*"0x02"/],
      ["dev_changeCredentials", [5, ADDRESS, "0x02"], CODES.rejected, /name no address/],
      [
        "dev_changeCredentials",
        [LEAVES, `0x${"00".repeat(20)}`, "0x02"],
        CODES.rejected,
        /The address .* stays 0xadad/,
      ],
    ]);
    await advance(1);
    for (const index of [COMPOUNDS, TARGET]) {
      expect((await validator(index)).validator.withdrawal_credentials).toBe(
        `0x02${"00".repeat(11)}${ADDRESS.slice(2)}`,
      );
    }

    // A deposit with a bad signature makes nobody a validator, so that the key is still the next.
    const [bad] = await call("dev_deposit", { bad_signature: true });
    const entering = await call("dev_deposit", { count: 2 });
    expect(entering.map(({ data }: { data: { index: string } }) => data.index)).toEqual(["17", "18"]);
    expect(entering[0]).toMatchObject({ type: "deposit_request", status: "queued", data: { pubkey: bad.data.pubkey } });
    expect(entering[0].data.signature).not.toBe(bad.data.signature);
    await call("dev_deposit", { validator: COMPOUNDS, amount: 40 * ETHER });
    const [later] = await call("dev_deposit", {});
    await advance(1);
    expect(headState().pendingDeposits.length).toBe(5);
    const { body } = (await chain.chain.blocks.canonicalAtSlot(3))!.signed.message;
    expect((body as electra.BeaconBlockBody).executionRequests.deposits).toHaveLength(5);

    await chain.call("dev_advance", { until: { validator: later.data.pubkey, status: "active_ongoing" }, limit: 200 });
    expect(headState().validators.length).toBe(VALIDATORS + 3);
    expect((await validator(VALIDATORS)).validator.pubkey).toBe(bad.data.pubkey);
    expect((await validator(VALIDATORS + 2)).validator.pubkey).toBe(later.data.pubkey);
    expect(await balance(COMPOUNDS)).toBeGreaterThan(72 * ETHER);
    expect((await validator(COMPOUNDS)).validator.effective_balance).toBe(String(72 * ETHER));

    const keys = await call("dev_keys", { first: VALIDATORS });
    expect(keys.map(({ pubkey }: { pubkey: string }) => pubkey)).toEqual([
      ...entering.map(({ data }: { data: { pubkey: string } }) => data.pubkey),
      later.data.pubkey,
    ]);

    // Those who entered do their duties like the others.
    await advance(2 * SLOTS_PER_EPOCH);
    const participation = (chain.chain.headState as CachedBeaconStateAltair).previousEpochParticipation.getAll();
    expect(participation).toEqual(Array(VALIDATORS + 3).fill(7));

    expect(await call("dev_slash", [1])).toMatchObject([{ type: "proposer_slashing", status: "pooled" }]);
    expect(await call("dev_slash", [[3, 2], "attester"])).toMatchObject([
      { type: "attester_slashing", data: { attestation_1: { attesting_indices: ["2", "3"] } } },
    ]);
    const exit = await call("dev_exit", [4]);
    expect(exit).toMatchObject({ type: "voluntary_exit", status: "pooled" });
    expect(await call("dev_withdraw", [LEAVES])).toMatchObject({ type: "withdrawal_request", data: { amount: "0" } });
    expect(await call("dev_withdraw", [COMPOUNDS, 5 * ETHER])).toMatchObject({ status: "queued" });
    expect(await call("dev_consolidate", [SOURCE, TARGET])).toMatchObject({ type: "consolidation_request" });
    // What waits already is not made again.
    await call("dev_skip", { epochs: 1 });
    expect(await call("dev_exit", [4])).toEqual(exit);
    await call("dev_slash", [[2, 1]]);
    await call("dev_slash", [[2, 3], "attester"]);
    const sizes = { proposerSlashings: 2, attesterSlashings: 1, voluntaryExits: 1 };
    expect(chain.chain.pools.operations.sizes).toMatchObject(sizes);
    await expectRefusals(chain, [
      ["dev_withdraw", [SOURCE, 1], CODES.rejected, /A part can be withdrawn with compounding credentials/],
    ]);
    await call("dev_advance", { until: { validator: 2, status: "active_slashed" }, limit: 20 });
    expect(await Promise.all([1, 2, 3, 5].map(status))).toEqual([
      "active_slashed",
      "active_slashed",
      "active_slashed",
      "active_ongoing",
    ]);
    expect(await Promise.all([4, LEAVES, SOURCE].map(status))).toEqual(Array(3).fill("active_exiting"));
    expect(headState().pendingPartialWithdrawals.length).toBe(1);
    expect(headState().pendingConsolidations.length).toBe(1);
    await expectRefusals(chain, [
      ["dev_slash", [1], CODES.rejected, /Validator 1 is already slashed/],
      ["dev_exit", [1], CODES.rejected, /Validator 1 cannot exit: it exits already, at epoch \d+/],
      ["dev_exit", [4], CODES.rejected, /Validator 4 cannot exit: it exits already/],
      [
        "dev_exit",
        [COMPOUNDS],
        CODES.rejected,
        /before its pending partial withdrawals are paid out: they come to 5 ETH/,
      ],
      ["dev_withdraw", [COMPOUNDS], CODES.rejected, /before its pending partial withdrawals/],
      ["dev_consolidate", [COMPOUNDS, TARGET], CODES.rejected, /pending partial withdrawals/],
      [
        "dev_consolidate",
        [SOURCE, TARGET],
        CODES.rejected,
        /Validator 10 cannot be consolidated into another: it exits/,
      ],
      [
        "dev_changeCredentials",
        { validator: TARGET, type: "0x02" },
        CODES.rejected,
        /has compounding credentials already/,
      ],
    ]);

    const before = { compounds: await balance(COMPOUNDS), target: await balance(TARGET) };
    await call("dev_skip", { epochs: chain.devChain.config.MIN_VALIDATOR_WITHDRAWABILITY_DELAY + 8 });
    await chain.until(LEAVES, "withdrawal_done");
    await advance(2 * SLOTS_PER_EPOCH);
    expect(await status(4)).toBe("withdrawal_possible");
    expect(await status(SOURCE)).toBe("withdrawal_done");
    const leaked = 0.95;
    expect(await balance(COMPOUNDS)).toBeLessThan(before.compounds - 5 * ETHER);
    expect(await balance(COMPOUNDS)).toBeGreaterThan((before.compounds - 5 * ETHER) * leaked);
    expect(await balance(TARGET)).toBeGreaterThan((before.target + 32 * ETHER) * leaked);
    await expectRefusals(chain, [
      ["dev_exit", [4], CODES.rejected, /Validator 4 cannot exit: it has exited, at epoch/],
      ["dev_slash", [4], CODES.rejected, /cannot be slashed any more: its balance can be withdrawn since epoch/],
    ]);
    await chain.expectFollowed();
    chain.expectHealth();
  });

  it("are refused with nothing changed when they make no sense", async () => {
    const chain = await open(FULU);
    await expectRefusals(chain, [
      ["dev_slash", [99], CODES.absent, /There is no validator 99: the chain has 16/],
      ["dev_slash", [[1, 99]], CODES.absent, /There is no validator 99/],
      ["dev_slash", [[]], CODES.invalid, /"validators" must be a validator/],
      ["dev_slash", [1, "both"], CODES.invalid, /must be one of "proposer", "attester"/],
      ["dev_exit", [`0x${"00".repeat(48)}`], CODES.absent, /There is no validator 0x00/],
      ["dev_withdraw", [1, -1], CODES.invalid, /"amount" must be/],
      ["dev_changeCredentials", [1], CODES.invalid, /The address is missing/],
      ["dev_changeCredentials", [1, ADDRESS, "0x03"], CODES.invalid, /must be one of "0x01", "0x02"/],
      ["dev_consolidate", [1, 1], CODES.invalid, /cannot be consolidated into itself/],
      ["dev_deposit", { validator: 1, count: 2 }, CODES.invalid, /validator and count exclude each other/],
      ["dev_deposit", { validator: 99 }, CODES.absent, /There is no validator 99/],
      ["dev_deposit", { count: 0 }, CODES.invalid, /"count" must be a number of validators from 1 to 1024/],
      ["dev_deposit", { amount: ETHER - 1 }, CODES.invalid, /"amount" must be an amount in Gwei from 1000000000/],
      ["dev_deposit", { withdrawal_credentials: ADDRESS }, CODES.invalid, /0x followed by 64 hex digits/],
    ]);
    await chain.advance(1);
    const { body } = (await chain.chain.blocks.canonicalAtSlot(1))!.signed.message as electra.BeaconBlock;
    const { proposerSlashings, blsToExecutionChanges, executionRequests } = body;
    expect([proposerSlashings, blsToExecutionChanges, ...Object.values(executionRequests)].flat()).toEqual([]);
  });

  it("wait over a crash for a block, and are in it once", async () => {
    const directory = tempDirectory();
    const first = await open(FULU, directory);
    await first.advance(2);
    await first.call("dev_slash", [1]);
    await first.call("dev_changeCredentials", [2, ADDRESS]);
    await first.call("dev_deposit", { validator: 3 });
    await first.abandon();
    const second = await open(FULU, directory);
    await second.advance(2);
    expect(await second.status(1)).toBe("active_slashed");
    await second.abandon();
    const third = await open(FULU, directory);
    await third.advance(2 * SLOTS_PER_EPOCH);
    const { headState } = third.chain;
    expect(headState.validators.getReadonly(2).withdrawalCredentials[0]).toBe(1);
    expect((headState as CachedBeaconStateElectra).pendingDeposits.length).toBe(1);
    await third.expectFollowed();
  });
});

const TWO_FORKS: ScheduledFork[] = [
  { fork: "deneb", epoch: 0 },
  { fork: "electra", epoch: 2 },
  { fork: "fulu", epoch: 3 },
];

it("makes slashings over a fork that began in empty slots", async () => {
  const { call, advance, status, expectHealth } = await open(TWO_FORKS);
  await advance(2 * SLOTS_PER_EPOCH - 2);
  await call("dev_skip", [3]);
  await call("dev_slash", [2]);
  await call("dev_slash", [3, "attester"]);
  await advance(2);
  expect([await status(2), await status(3)]).toEqual(["active_slashed", "active_slashed"]);
  expectHealth();
});

it("makes a slashing again when the first was signed for a fork that blocks of now do not know", async () => {
  const { call, advance, status } = await open(TWO_FORKS);
  await advance(2 * SLOTS_PER_EPOCH - 2);
  await call("dev_slash", [2]);
  await call("dev_slash", [3, "attester"]);
  await call("dev_skip", [SLOTS_PER_EPOCH + 3]);
  await call("dev_advance", { until: { finalized: 4 } });
  expect([await status(2), await status(3)]).toEqual(["active_ongoing", "active_ongoing"]);
  await call("dev_slash", [2]);
  await call("dev_slash", [3, "attester"]);
  await advance(2);
  expect([await status(2), await status(3)]).toEqual(["active_slashed", "active_slashed"]);
});

it("puts a request into each branch once", async () => {
  const { devChain, call, chain } = await open(FULU, tempDirectory(), { activeValidators: [] });
  const byHand = new ByHand(devChain);
  const depositsOf = ({ body }: BeaconBlock) => (body as electra.BeaconBlockBody).executionRequests.deposits.length;
  const propose = async (slot: number, parentRoot: string) => {
    await devChain.clock.advanceTo(slot);
    return byHand.propose(slot, parentRoot);
  };
  const base = await propose(1, chain.head.root);
  await call("dev_deposit", { validator: 0 });
  await call("dev_deposit", { validator: 0 });
  const first = await propose(2, base.root);
  expect(depositsOf(first.signed.message)).toBe(2);
  await call("dev_deposit", { validator: 0 });
  const child = await propose(3, first.root);
  expect(depositsOf(child.signed.message)).toBe(1);
  expect(depositsOf((await propose(4, child.root)).signed.message)).toBe(0);
  const sibling = await propose(5, base.root);
  expect(depositsOf(sibling.signed.message)).toBe(3);
  expect(depositsOf((await propose(6, sibling.root)).signed.message)).toBe(0);
});

describe("deposits before electra", () => {
  it.each(["phase0", "deneb"] as const)("are voted for and proven in blocks of %s", async (fork) => {
    const directory = tempDirectory();
    const forks: ScheduledFork[] = fork === "phase0" ? [] : [{ fork, epoch: 0 }];
    let chain = await open(forks, directory);
    await chain.advance(3);
    await expectRefusals(chain, [["get_v1_beacon_deposit_snapshot", [], CODES.absent, /from its first dev_deposit/]]);
    const [bad] = await chain.call("dev_deposit", { bad_signature: true });
    expect(bad).toMatchObject({ type: "deposit_data", status: "logged" });
    const [first] = await chain.call("dev_deposit", {});
    expect(first.data.pubkey).toBe(bad.data.pubkey);
    await chain.call("dev_deposit", { validator: 0, amount: 2 * ETHER });
    await chain.abandon();
    chain = await open(forks, directory);
    const [second] = await chain.call("dev_deposit", {});
    expect(second.data.pubkey).not.toBe(first.data.pubkey);
    // More than half of a voting period has to agree.
    await chain.call("dev_advance", { until: { slot: 1.5 * VOTING_PERIOD - 1 } });
    expect(chain.chain.headState.eth1DepositIndex).toBe(VALIDATORS);
    await chain.advance(1);
    const { headState } = chain.chain;
    expect(headState.eth1DepositIndex).toBe(VALIDATORS + 4);
    expect(headState.validators.length).toBe(VALIDATORS + 2);
    expect(await chain.balance(0)).toBeGreaterThan(33.9 * ETHER);
    // A snapshot has what is final: the deposits of the genesis, until the state is that has taken the others.
    const snapshot = () => chain.call("get_v1_beacon_deposit_snapshot");
    expect(await snapshot()).toMatchObject({ deposit_count: String(VALIDATORS), execution_block_height: "0" });
    await chain.call("dev_advance", { until: { finalized: headState.epochCtx.epoch + 1 } });
    const { blockHash, depositRoot } = headState.eth1Data;
    expect(await snapshot()).toMatchObject({
      deposit_count: String(VALIDATORS + 4),
      deposit_root: toHex(depositRoot),
      execution_block_hash: toHex(blockHash),
    });
    await chain.call("dev_deposit", { validator: 0 });
    await chain.expectFollowed();
    chain.expectHealth();
    await expectRefusals(chain, [
      [
        "dev_withdraw",
        [1],
        CODES.rejected,
        /from electra on: this chain is in (phase0|deneb), and never comes to electra/,
      ],
      ["dev_consolidate", [1, 2], CODES.rejected, /Validators can be consolidated from electra on/],
      ...(fork === "phase0"
        ? ([["dev_changeCredentials", [1, ADDRESS], CODES.rejected, /can be changed from capella on/]] as const)
        : ([["dev_changeCredentials", [1, ADDRESS, "0x02"], CODES.rejected, /can compound from electra on/]] as const)),
    ] as [string, Params, number, RegExp][]);
  });

  it("go on as requests of payloads from electra on", async () => {
    const chain = await open([
      { fork: "deneb", epoch: 0 },
      { fork: "electra", epoch: 3 },
    ]);
    await chain.call("dev_deposit", {});
    await chain.call("dev_advance", { until: { epoch: 3 } });
    expect(chain.chain.headState.validators.length).toBe(VALIDATORS + 1);
    const [request] = await chain.call("dev_deposit", {});
    expect(request).toMatchObject({ status: "queued", data: { index: String(VALIDATORS + 1) } });
    await chain.advance(2);
    const { depositRequestsStartIndex, pendingDeposits } = chain.chain.headState as CachedBeaconStateElectra;
    expect(depositRequestsStartIndex).toBe(BigInt(VALIDATORS + 1));
    // The one before waits again: the fork queues the deposits of those who were not active yet.
    expect(pendingDeposits.length).toBe(2);
    expect(toHex(pendingDeposits.getReadonly(1).pubkey)).toBe(request.data.pubkey);
    await chain.expectFollowed();
    chain.expectHealth();
  });
});

it("makes on a chain with an execution client what needs no transaction, and says of the rest where it comes from", async () => {
  const client = await ExecutionClient.open();
  const { devChain } = await openDevChain(client.nodeOptions());
  const caller = new Caller(devChain.api);
  await devChain.clock.advanceTo(1);
  expect(await caller.call("dev_slash", [1])).toMatchObject([{ status: "pooled" }]);
  expect(await caller.call("dev_changeCredentials", [2, ADDRESS])).toMatchObject({ status: "pooled" });
  const unsupported = (message: RegExp) => ({ code: -32004, message: expect.stringMatching(message) });
  expect(await caller.error("dev_withdraw", [2])).toMatchObject(unsupported(/\(--el\).* at the contract of EIP-7002/));
  expect(await caller.error("dev_consolidate", [2, 3])).toMatchObject(unsupported(/at the contract of EIP-7251/));
  expect(await caller.error("dev_deposit")).toMatchObject(unsupported(/deposit contract.* send it a transaction/));
  await devChain.clock.advanceTo(3);
  expect(devChain.chain.headState.validators.getReadonly(1).slashed).toBe(true);
});

it("keeps what waits for a block when the program is killed", async () => {
  const args = ["--data-dir", tempDirectory(), "--fork", "fulu", "--validators", "8"];
  const settings = [...args, "--speed", "0", "--warmup-epochs", "1"];
  const killed = await Program.dev(settings);
  await killed.call("dev_slash", [1]);
  const [{ data }] = await killed.call("dev_deposit");
  await killed.kill();
  const program = await ProgramHere.dev(settings);
  await program.call("dev_advance", [2]);
  const { status } = await program.call("get_v1_beacon_states_stateId_validators_validatorId", ["head", 1]);
  expect(status).toBe("active_slashed");
  expect(await program.call("get_v1_beacon_states_stateId_pending_deposits", ["head"])).toMatchObject([
    { pubkey: data.pubkey, amount: data.amount },
  ]);
});
