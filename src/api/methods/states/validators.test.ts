import { routes } from "@lodestar/api";
import { createCachedBeaconState } from "@lodestar/state-transition";
import { getValidatorStatus, type phase0, ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { Caller } from "../../../../test/support/api/caller.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../../../test/support/api/fake-chain.ts";
import { createApi } from "../../api.ts";
import { createMethodTable } from "../../bound-methods.ts";

const LIST = "get_v1_beacon_states_stateId_validators";
const ONE = "get_v1_beacon_states_stateId_validators_validatorId";
const BALANCES = "get_v1_beacon_states_stateId_validator_balances";
const IDENTITIES = "post_v1_beacon_states_stateId_validator_identities";

const FAR = Number.POSITIVE_INFINITY;
const EPOCH = 10;
const SLOT = 8 * EPOCH + 3;

/** Validators by their status in epoch 10, on both sides of each boundary. */
const ROWS: [string, Partial<phase0.Validator>][] = [
  ["pending_initialized", { activationEligibilityEpoch: FAR, activationEpoch: FAR }],
  ["pending_queued", { activationEligibilityEpoch: 3, activationEpoch: FAR }],
  ["pending_queued", { activationEligibilityEpoch: 3, activationEpoch: 11 }],
  ["active_ongoing", { activationEpoch: 10 }],
  ["active_ongoing", {}],
  ["active_exiting", { exitEpoch: 11, withdrawableEpoch: 20 }],
  ["active_slashed", { exitEpoch: 11, withdrawableEpoch: 20, slashed: true }],
  ["exited_unslashed", { exitEpoch: 10, withdrawableEpoch: 11 }],
  ["exited_slashed", { exitEpoch: 10, withdrawableEpoch: 11, slashed: true }],
  ["withdrawal_possible", { exitEpoch: 5, withdrawableEpoch: 10 }],
  ["withdrawal_possible", { exitEpoch: 5, withdrawableEpoch: 10, slashed: true, effectiveBalance: 1 }],
  ["withdrawal_done", { exitEpoch: 5, withdrawableEpoch: 10, effectiveBalance: 0 }],
];
const STATUSES = ROWS.map(([status]) => status);

const fake = createFakeChain([{ fork: "phase0", epoch: 0 }]);

/** Returns a state at a slot that contains the validators in the rows, and optionally more. */
function stateWith(slot: number, added = 0) {
  const state = fake.headState.clone();
  state.slot = slot;
  for (const [index, [, changes]] of ROWS.entries()) {
    const validator = { ...state.validators.getReadonly(index).toValue(), ...changes };
    state.validators.set(index, ssz.phase0.Validator.toViewDU(validator));
    state.balances.set(index, 31e9 + index);
  }
  for (let index = 0; index < added; index++) {
    const validator = {
      ...ssz.phase0.Validator.defaultValue(),
      pubkey: fake.headState.validators.get(0).pubkey.slice(),
    };
    // These keys are invalid, and the key cache would reject them. Their validators can only be found by index.
    validator.pubkey[47] = index % 256;
    validator.pubkey[46] = index >> 8;
    state.validators.push(ssz.phase0.Validator.toViewDU({ ...validator, exitEpoch: FAR, withdrawableEpoch: FAR }));
    state.balances.push(1000 + index);
  }
  state.commit();
  return createCachedBeaconState(
    fake.config.getForkTypes(slot).BeaconState.deserializeToViewDU(state.serialize()),
    { config: fake.config, pubkeyCache: fake.headState.epochCtx.pubkeyCache },
    { skipSyncPubkeys: true },
  );
}

function callerFor(headState: ReturnType<typeof stateWith>, bySlot: Record<number, typeof headState> = {}) {
  const view = Object.create(fake, {
    headState: { value: headState },
    head: { value: { ...fake.head, slot: headState.slot } },
    clock: { value: { currentSlot: headState.slot } },
    states: { value: { ...fake.states, canonicalAtSlot: async (slot: number) => bySlot[slot] ?? null } },
  });
  const chain = asBeaconChain(view);
  const api = createApi({ chain, network: fakeNetwork(view), setLogSpec: () => {} });
  return { api, caller: new Caller(api) };
}

const head = stateWith(SLOT);
const { caller } = callerFor(head, { 40: stateWith(40) });
const keyOf = (index: number) => toHex(head.validators.getReadonly(index).pubkey);
const indicesOf = (list: { index: string }[]) => list.map(({ index }) => Number(index));
const withStatus = (...wanted: string[]) => ROWS.flatMap(([status], index) => (wanted.includes(status) ? [index] : []));
/** The remaining validators of the sixteen are active. */
const OTHERS = [12, 13, 14, 15];

describe("validators of a state", () => {
  it("have the status of the epoch of the state", async () => {
    const list = await caller.call(LIST, ["head"]);
    expect(list).toHaveLength(16);
    expect(list.slice(0, ROWS.length).map(({ status }: { status: string }) => status)).toEqual(STATUSES);
    // In epoch 5, some validators are not active yet and none has exited.
    expect((await caller.call(ONE, [40, 3])).status).toBe("pending_queued");
    expect((await caller.call(ONE, [40, 7])).status).toBe("active_exiting");
    expect((await caller.call(ONE, [40, 8])).status).toBe("active_slashed");
    expect((await caller.call(ONE, [40, 9])).status).toBe("exited_unslashed");
  });

  it.each([...new Set(STATUSES)])("are filtered by the status %s", async (status) => {
    const expected = status === "active_ongoing" ? [...withStatus(status), ...OTHERS] : withStatus(status);
    expect(indicesOf(await caller.call(LIST, ["head", null, [status]]))).toEqual(expected);
    expect(indicesOf(await caller.call(LIST, { state_id: "head", status }))).toEqual(expected);
  });

  it.each([
    ["pending", withStatus("pending_initialized", "pending_queued")],
    ["active", [...withStatus("active_ongoing", "active_exiting", "active_slashed"), ...OTHERS]],
    ["exited", withStatus("exited_unslashed", "exited_slashed")],
    ["withdrawal", withStatus("withdrawal_possible", "withdrawal_done")],
  ])("are filtered by the group %s", async (group, expected) => {
    expect(indicesOf(await caller.call(LIST, ["head", [], [group]]))).toEqual(expected);
  });

  it("are filtered by ids and statuses together", async () => {
    const active = ["active", "exited_slashed"];
    expect(indicesOf(await caller.call(LIST, ["head", ["8", keyOf(4), 0, 13], active]))).toEqual([4, 8, 13]);
    expect(await caller.call(LIST, ["head", [0, 1], active])).toEqual([]);
  });

  it("are listed by index, without duplicates and unknown ids", async () => {
    const ids = [14, keyOf(2), "2", "16", `0x${"ab".repeat(48)}`, keyOf(9).slice(2).toUpperCase(), 1e15];
    expect(indicesOf(await caller.call(LIST, ["head", ids]))).toEqual([2, 9, 14]);
    expect(indicesOf(await caller.call(BALANCES, ["head", ids]))).toEqual([2, 9, 14]);
    expect(await caller.call(LIST, ["head", ["99"]])).toEqual([]);
    expect(await caller.call(BALANCES, ["head", ["99"]])).toEqual([]);
    expect(await caller.call(LIST, ["head", "7"])).toHaveLength(1);
  });

  it("are all listed without a filter, in each notation", async () => {
    const all = await caller.call(LIST, ["head"]);
    for (const params of [
      ["head", null],
      ["head", []],
      ["head", [], []],
      ["head", null, null],
    ]) {
      expect(await caller.call(LIST, params)).toEqual(all);
    }
    expect(await caller.call(BALANCES, ["head", []])).toEqual(await caller.call(BALANCES, ["head"]));
  });

  it("have their actual balances, as strings", async () => {
    const [validator] = await caller.call(LIST, ["head", [3]]);
    expect(validator).toEqual({
      index: "3",
      balance: "31000000003",
      status: "active_ongoing",
      validator: {
        pubkey: keyOf(3),
        withdrawal_credentials: toHex(head.validators.getReadonly(3).withdrawalCredentials),
        effective_balance: "32000000000",
        slashed: false,
        activation_eligibility_epoch: "0",
        activation_epoch: "10",
        exit_epoch: "18446744073709551615",
        withdrawable_epoch: "18446744073709551615",
      },
    });
    const all: { index: string; balance: string }[] = await caller.call(LIST, ["head"]);
    expect(await caller.call(BALANCES, ["head"])).toEqual(all.map(({ index, balance }) => ({ index, balance })));
    expect(await caller.call(BALANCES, ["head", [keyOf(3)]])).toEqual([{ index: "3", balance: "31000000003" }]);
  });

  it("are found one by one, by index and by key", async () => {
    const [expected] = await caller.call(LIST, ["head", [5]]);
    const key = keyOf(5);
    for (const id of ["5", 5, key, key.slice(2), key.slice(2).toUpperCase(), `0x${key.slice(2).toUpperCase()}`]) {
      expect(await caller.call(ONE, ["head", id])).toEqual(expected);
    }
  });

  it.each([16, "16", "18446744073709551615", `0x${"ab".repeat(48)}`])("are not found by %s", async (id) => {
    expect(await caller.error(ONE, ["head", id])).toMatchObject({ code: -32001 });
  });

  it.each([
    [LIST, ["head", ["x"]]],
    [LIST, ["head", [1, "1"]]],
    [LIST, ["head", [1, 1]]],
    [LIST, ["head", [keyOf(1), keyOf(1).slice(2)]]],
    [LIST, ["head", [], ["gone"]]],
    [LIST, ["head", [], ["active", "active"]]],
    [LIST, ["head", Array.from({ length: 16_385 }, (_, index) => index)]],
    [LIST, ["head", 1]],
    [LIST, ["head", {}]],
    [LIST, ["tail"]],
    [LIST, ["head", [], [], 1]],
    [BALANCES, ["head", ["-1"]]],
    [BALANCES, ["head", [], []]],
    [BALANCES, []],
    [ONE, ["head", "0x12"]],
    [ONE, ["head", -1]],
    [ONE, ["head"]],
    [ONE, ["head", null]],
  ])("%s rejects %j", async (method, params) => {
    expect(await caller.error(method, params)).toMatchObject({ code: -32602 });
  });

  it("accepts the maximum number of ids", async () => {
    const ids = Array.from({ length: 16_384 }, (_, index) => String(index));
    expect(await caller.call(LIST, ["head", ids])).toHaveLength(16);
  });

  it.each([LIST, BALANCES])("%s finds no state of a future slot", async (method) => {
    expect(await caller.error(method, [SLOT + 1])).toMatchObject({ code: -32001 });
    expect(await caller.meta(method, ["head"])).toEqual({ execution_optimistic: false, finalized: false });
  });
});

describe("a growing registry", () => {
  // Not a multiple of a chunk or of a leaf with balances.
  const ADDED = 599;
  const grown = stateWith(SLOT, ADDED);
  const { api, caller: growing } = callerFor(grown, { 40: stateWith(40) });

  const methods = createMethodTable(api);
  const { ValidatorResponseListType, ValidatorBalanceListType, ValidatorIdentitiesType } = routes.beacon.state;
  const all = Array.from({ length: grown.validators.length }, (_, index) => {
    const validator = grown.validators.getReadonly(index).toValue();
    return { index, balance: grown.balances.get(index), status: getValidatorStatus(validator, EPOCH), validator };
  });

  it("is streamed as the JSON of the codecs", async () => {
    expect(all).toHaveLength(16 + ADDED);
    const { body } = await methods.find(LIST)!.call(["head"]);
    expect(Buffer.isBuffer(body)).toBe(false);
    const streamed = Buffer.concat(await Array.fromAsync(body as AsyncIterable<Buffer>)).toString();
    expect(streamed).toBe(JSON.stringify(ValidatorResponseListType.toJson(all)));
    const answer = await methods.find(BALANCES)!.call(["head"]);
    expect(Buffer.concat(await Array.fromAsync(answer.body as AsyncIterable<Buffer>)).toString()).toBe(
      JSON.stringify(ValidatorBalanceListType.toJson(all)),
    );
    for (const validator of [0, 11, 16 + ADDED - 1]) {
      const one = await methods.find(ONE)!.call(["head", validator]);
      expect(`[${one.body}]`).toBe(JSON.stringify(ValidatorResponseListType.toJson([all[validator]!])));
    }
  });

  it("is serialized as the SSZ of the codecs, in full or in part", async () => {
    const sszOf = async (method: string, validatorIds: number[]) => {
      const { body } = await methods.all
        .find(({ name }) => name === method)!
        .executeSsz({ stateId: "head", validatorIds });
      return Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body));
    };
    for (const validatorIds of [[], [3, 611, 2]]) {
      const chosen = validatorIds.length === 0 ? all : all.filter(({ index }) => validatorIds.includes(index));
      expect((await sszOf(BALANCES, validatorIds)).equals(ValidatorBalanceListType.serialize(chosen))).toBe(true);
      const identities = chosen.map(({ index, validator: { pubkey, activationEpoch } }) => ({
        index,
        pubkey,
        activationEpoch,
      }));
      expect((await sszOf(IDENTITIES, validatorIds)).equals(ValidatorIdentitiesType.serialize(identities))).toBe(true);
    }
  });

  it("is filtered while it is streamed", async () => {
    expect(indicesOf(await growing.call(LIST, ["head", [], ["exited"]]))).toEqual([7, 8]);
    expect(await growing.call(LIST, ["head", [], ["pending", "active", "exited", "withdrawal"]])).toHaveLength(615);
  });

  it("does not show new validators in old states", async () => {
    expect((await growing.call(ONE, ["head", 16])).balance).toBe("1000");
    expect(await growing.call(LIST, [40])).toHaveLength(16);
    expect(await growing.call(LIST, [40, [15, 16]])).toHaveLength(1);
    expect(await growing.error(ONE, [40, 16])).toMatchObject({ code: -32001 });
  });

  it("does not find a key that only a later state has", async () => {
    const { pubkeyCache } = fake.headState.epochCtx;
    const key = keyOf(15);
    const index = pubkeyCache.getIndex(head.validators.getReadonly(15).pubkey)!;
    const without = stateWith(40);
    without.validators = ssz.phase0.Validators.toViewDU(
      Array.from({ length: index }, (_, i) => without.validators.getReadonly(i).toValue()),
    );
    without.commit();
    const { caller: older } = callerFor(grown, { 40: without });
    expect((await older.call(ONE, ["head", key])).index).toBe("15");
    expect(await older.error(ONE, [40, key])).toMatchObject({ code: -32001 });
    expect(await older.call(LIST, [40, [key]])).toEqual([]);
  });
});
