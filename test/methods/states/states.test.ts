import { MAX_COMMITTEES_PER_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Caller } from "../../support/api/caller.ts";
import { type OpenedDevChain, openQuietDevChain, startQuietDevChain } from "../../support/chain/dev-chain.ts";

interface Committee {
  index: string;
  slot: string;
  validators: string[];
}

const COMMITTEES = "get_v1_beacon_states_stateId_committees_epoch";
const STATE = "get_v1_debug_beacon_states_stateId";
const VALIDATORS = 64;
const COMMITTEES_PER_SLOT = 2;
/** In the fifth epoch, so that the state no longer caches the first ones. */
const HEAD = 4 * SLOTS_PER_EPOCH + 2;
const EPOCH = 4;

let opened: OpenedDevChain;
let caller: Caller;
beforeAll(async () => {
  opened = await startQuietDevChain(HEAD, { validators: VALIDATORS });
  caller = new Caller(opened.devChain.api);
});
afterAll(() => opened.close());

describe("committees", () => {
  it.each([0, 1, 2, 3, 4, 5])("of epoch %i contain every active validator once, by slot and index", async (epoch) => {
    const committees: Committee[] = await caller.call(COMMITTEES, ["head", epoch]);
    const first = epoch * SLOTS_PER_EPOCH;
    const places = Array.from({ length: SLOTS_PER_EPOCH * COMMITTEES_PER_SLOT }, (_, i) => [
      String(first + Math.floor(i / COMMITTEES_PER_SLOT)),
      String(i % COMMITTEES_PER_SLOT),
    ]);
    expect(committees.map(({ slot, index }) => [slot, index])).toEqual(places);
    const members = committees.flatMap(({ validators }) => validators.map(Number));
    expect(members.sort((a, b) => a - b)).toEqual(Array.from({ length: VALIDATORS }, (_, index) => index));
  });

  it.each([0, 1, 2, 3])("of epoch %i are the same for later states", async (epoch) => {
    const then = await caller.call(COMMITTEES, [epoch * SLOTS_PER_EPOCH]);
    expect(await caller.call(COMMITTEES, ["head", epoch])).toEqual(then);
  });

  it("default to the state's epoch", async () => {
    expect(await caller.call(COMMITTEES, ["head"])).toEqual(await caller.call(COMMITTEES, ["head", String(EPOCH)]));
    expect(await caller.call(COMMITTEES, [9])).toEqual(await caller.call(COMMITTEES, ["head", 1]));
    expect(await caller.call("get_v1_beacon_states_stateId_committees", ["head"])).toEqual(
      await caller.call(COMMITTEES, ["head"]),
    );
  });

  it("are filtered by index and slot", async () => {
    const all: Committee[] = await caller.call(COMMITTEES, ["head"]);
    expect(await caller.call(COMMITTEES, ["head", null, 1])).toEqual(all.filter(({ index }) => index === "1"));
    expect(await caller.call(COMMITTEES, ["head", null, null, "35"])).toEqual(all.filter(({ slot }) => slot === "35"));
    const { epochCtx } = opened.devChain.chain.headState;
    const [only, ...others] = await caller.call(COMMITTEES, { state_id: "head", slot: 35, index: "1" });
    expect(others).toEqual([]);
    const validators = Array.from(epochCtx.getBeaconCommittee(35, 1), String);
    expect(only).toEqual({ index: "1", slot: "35", validators });
    // A valid index, but there are fewer committees with these validators.
    for (const index of [COMMITTEES_PER_SLOT, MAX_COMMITTEES_PER_SLOT - 1]) {
      expect(await caller.call(COMMITTEES, ["head", null, index])).toEqual([]);
    }
    expect(await caller.meta(COMMITTEES, ["finalized"])).toMatchObject({ finalized: true });
  });

  it.each([
    [["head", EPOCH + 2]],
    [["genesis", 2]],
    [["head", "18446744073709551615"]],
    [["head", String(2n ** 61n - 1n)]],
    [["head", -1]],
    [["head", null, MAX_COMMITTEES_PER_SLOT]],
    [["head", null, "18446744073709551615"]],
    [["head", null, null, EPOCH * SLOTS_PER_EPOCH - 1]],
    [["head", null, null, (EPOCH + 1) * SLOTS_PER_EPOCH]],
    [["head", 1, null, EPOCH * SLOTS_PER_EPOCH]],
    [["head", null, null, "18446744073709551615"]],
    [["head", null, null, null, null]],
    [[]],
  ])("are refused for %j", async (params) => {
    expect(await caller.error(COMMITTEES, params)).toMatchObject({ code: -32602 });
  });

  it("of an unknown state are not found", async () => {
    expect(await caller.error(COMMITTEES, [HEAD + 1])).toMatchObject({ code: -32001 });
    expect(await caller.error(COMMITTEES, [`0x${"ab".repeat(32)}`])).toMatchObject({ code: -32001 });
  });
});

it.each(["phase0", "fulu"] as const)("whole states of %s hash to their roots", async (fork) => {
  const { devChain } = await openQuietDevChain(10, { validators: 8, forks: [{ fork, epoch: 0 }] });
  const chain = new Caller(devChain.api);
  const type = devChain.config.getForkTypes(0).BeaconState;
  for (const id of ["head", "genesis", "finalized", "justified", 5, "9"]) {
    const json = await chain.call(STATE, [id]);
    expect(Object.keys(json)[0]).toBe("genesis_time");
    const { root } = await chain.call("get_v1_beacon_states_root", [id]);
    expect(toRootHex(type.hashTreeRoot(type.fromJson(json) as never))).toBe(root);
    expect(await chain.call(STATE, [root])).toEqual(json);
  }
  expect(await chain.meta("get_v2_debug_beacon_states_stateId", ["head"])).toEqual({
    version: fork,
    execution_optimistic: false,
    finalized: false,
  });
  expect(await chain.error(STATE, ["tail"])).toMatchObject({ code: -32602 });
  expect(await chain.error(STATE, [])).toMatchObject({ code: -32602 });
  expect(await chain.error(STATE, [11])).toMatchObject({ code: -32001 });
  expect(await chain.error(STATE, [`0x${"ab".repeat(32)}`])).toMatchObject({ code: -32001 });
});

it("the justified checkpoint is that of fork choice, also in an epoch whose first slot is empty", async () => {
  const { devChain } = await openQuietDevChain(4 * SLOTS_PER_EPOCH - 1, { validators: 8 });
  const { clock, api, chain: beaconChain } = devChain;
  const chain = new Caller(api);
  await clock.advanceTo(4 * SLOTS_PER_EPOCH + 1);
  // The head state is in the previous epoch, without the justification by its last votes.
  const { current_justified } = await chain.call("get_v1_beacon_states_finality_checkpoints", ["head"]);
  expect(current_justified.epoch).toBe("2");
  const rootOf = async (id: unknown) => (await chain.call("get_v1_beacon_states_root", [id])).root;
  expect(await rootOf("justified")).toBe(await rootOf(3 * SLOTS_PER_EPOCH));
  expect(await rootOf("finalized")).toBe(await rootOf(2 * SLOTS_PER_EPOCH));
  const { justified_checkpoint } = await chain.call("get_v1_debug_fork_choice");
  expect(justified_checkpoint.epoch).toBe("3");
  expect(await chain.call("getChainHead")).toEqual({
    head_slot: String(4 * SLOTS_PER_EPOCH - 1),
    head_block_root: beaconChain.head.root,
    finalized_slot: String(2 * SLOTS_PER_EPOCH),
    finalized_block_root: (await beaconChain.blocks.canonicalAtSlot(2 * SLOTS_PER_EPOCH))!.root,
    justified_slot: String(3 * SLOTS_PER_EPOCH),
    justified_block_root: justified_checkpoint.root,
  });
});

it("validators of a running chain match its states", async () => {
  const list = await caller.call("get_v1_beacon_states_stateId_validators", ["head"]);
  const state = await caller.call(STATE, ["head"]);
  expect(list.map(({ validator }: { validator: unknown }) => validator)).toEqual(state.validators);
  expect(list.map(({ balance }: { balance: string }) => balance)).toEqual(state.balances);
  const old = await caller.call("get_v1_beacon_states_stateId_validator_balances", ["genesis"]);
  expect(new Set(old.map(({ balance }: { balance: string }) => balance))).toEqual(new Set(["32000000000"]));
});
