import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, SLOTS_PER_EPOCH, SYNC_COMMITTEE_SIZE } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import { OpenApi } from "../../conformance/openapi.ts";
import { Caller } from "../../support/api/caller.ts";
import { type OpenedDevChain, startQuietDevChain } from "../../support/chain/dev-chain.ts";

const STATES = "v1_beacon_states_stateId";
const VALIDATORS = 16;
const INVALID = -32602;

const standard = new OpenApi("v4.0.0");

function expectStandard(verb: "GET" | "POST", name: string, result: unknown): void {
  const { data } = standard.validator({ verb, path: `/eth/v1/beacon/states/{state_id}/${name}` })!;
  data(result);
  expect(data.errors ?? []).toEqual([]);
}

let opened: OpenedDevChain;
let caller: Caller;

function openBefore(epoch: number, forks: readonly ScheduledFork[]): void {
  beforeAll(async () => {
    opened = await startQuietDevChain(epoch * SLOTS_PER_EPOCH + 2, { validators: VALIDATORS, forks });
    caller = new Caller(opened.devChain.api);
  });
  afterAll(() => opened.close());
}

describe("on every fork", () => {
  openBefore(3, []);
  const pubkey = (index: number) => toHex(opened.devChain.keys.publicKey(index)!);

  it("validators and balances are the same by GET and POST", async () => {
    const ids = ["3", pubkey(1)];
    const filter = { ids, statuses: ["active_ongoing"] };
    const validators = await caller.call(`post_${STATES}_validators`, ["head", filter]);
    expectStandard("POST", "validators", validators);
    expect(validators).toHaveLength(2);
    expect(validators).toEqual(await caller.call(`get_${STATES}_validators`, ["head", ids, ["active_ongoing"]]));
    expect(await caller.call(`post_${STATES}_validators`, ["head", {}])).toHaveLength(VALIDATORS);
    const balances = await caller.call(`post_${STATES}_validator_balances`, ["head", ids]);
    expectStandard("POST", "validator_balances", balances);
    expect(balances).toEqual(await caller.call(`get_${STATES}_validator_balances`, ["head", ids]));
  });

  it("accepts more ids than fit into a URL", async () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => index);
    expect(await caller.call(`post_${STATES}_validators`, ["head", { ids }])).toHaveLength(VALIDATORS);
    expect(await caller.call(`post_${STATES}_validator_balances`, ["head", ids])).toHaveLength(VALIDATORS);
  });

  it("identities are those of the registry", async () => {
    const all = await caller.call(`post_${STATES}_validator_identities`, ["head"]);
    expectStandard("POST", "validator_identities", all);
    const validators: { index: string; validator: { pubkey: string; activation_epoch: string } }[] = await caller.call(
      `get_${STATES}_validators`,
      ["head"],
    );
    expect(all).toEqual(
      validators.map(({ index, validator: { pubkey, activation_epoch } }) => ({ index, pubkey, activation_epoch })),
    );
    expect(await caller.call(`post_${STATES}_validator_identities`, ["head", [pubkey(5), "2", "99"]])).toEqual([
      all[2],
      all[5],
    ]);
  });

  it("the RANDAO mix is that of the state, a different one per epoch", async () => {
    const state = await caller.call("get_v1_debug_beacon_states_stateId", ["head"]);
    const mixes = [];
    for (const epoch of [0, 1, 2, 3]) {
      const result = await caller.call(`get_${STATES}_randao`, ["head", epoch]);
      expectStandard("GET", "randao", result);
      expect(result.randao).toBe(state.randao_mixes[epoch]);
      mixes.push(result.randao);
    }
    expect(new Set(mixes).size).toBe(4);
    expect((await caller.call(`get_${STATES}_randao`, ["head"])).randao).toBe(mixes[3]);
    expect(await caller.error(`get_${STATES}_randao`, ["head", 4])).toMatchObject({ code: INVALID });
  });

  it.each([
    ["sync_committees", /altair/],
    ["pending_deposits", /electra/],
    ["pending_partial_withdrawals", /electra/],
    ["pending_consolidations", /electra/],
    ["proposer_lookahead", /fulu/],
  ])("no state of a chain that never gets them has %s", async (name, fork) => {
    const { code, message } = await caller.error(`get_${STATES}_${name}`, ["head"]);
    expect(code).toBe(INVALID);
    expect(message).toMatch(fork);
    expect(message).toMatch("which is not scheduled on this chain");
  });
});

describe("on a chain with scheduled forks", () => {
  openBefore(6, [
    { fork: "altair", epoch: 1 },
    { fork: "bellatrix", epoch: 2 },
    { fork: "capella", epoch: 3 },
    { fork: "deneb", epoch: 4 },
    { fork: "electra", epoch: 5 },
    { fork: "fulu", epoch: 6 },
  ]);

  it("a sync committee lists its members in order, in total and by subcommittee", async () => {
    const result = await caller.call(`get_${STATES}_sync_committees`, ["head"]);
    expectStandard("GET", "sync_committees", result);
    const { validators, validator_aggregates } = result;
    expect(validators).toHaveLength(SYNC_COMMITTEE_SIZE);
    expect(validator_aggregates).toHaveLength(4);
    expect(validator_aggregates.flat()).toEqual(validators);
    const { current_sync_committee, next_sync_committee } = await caller.call("get_v1_debug_beacon_states_stateId", [
      "head",
    ]);
    const keysOf = (indices: string[]) => indices.map((index) => toHex(opened.devChain.keys.publicKey(Number(index))!));
    expect(keysOf(validators)).toEqual(current_sync_committee.pubkeys);
    const next = await caller.call(`get_${STATES}_sync_committees`, ["head", EPOCHS_PER_SYNC_COMMITTEE_PERIOD]);
    expect(keysOf(next.validators)).toEqual(next_sync_committee.pubkeys);
  });

  it.each(["pending_deposits", "pending_partial_withdrawals", "pending_consolidations"])(
    "%s are those of the state",
    async (name) => {
      const result = await caller.call(`get_${STATES}_${name}`, ["head"]);
      expectStandard("GET", name, result);
      const state = await caller.call("get_v1_debug_beacon_states_stateId", ["head"]);
      expect(result).toEqual(state[name]);
      expect(await caller.meta(`get_${STATES}_${name}`, ["head"])).toMatchObject({ version: "fulu" });
      expect(await caller.meta(`get_${STATES}_${name}`, [5 * SLOTS_PER_EPOCH])).toMatchObject({ version: "electra" });
    },
  );

  it("the proposer lookahead matches the duties", async () => {
    const result = await caller.call(`get_${STATES}_proposer_lookahead`, ["head"]);
    expectStandard("GET", "proposer_lookahead", result);
    const duties: { validator_index: string }[] = await caller.call("get_v1_validator_duties_proposer", [6]);
    expect(result).toHaveLength(2 * SLOTS_PER_EPOCH);
    expect(result.slice(0, SLOTS_PER_EPOCH)).toEqual(duties.map(({ validator_index }) => validator_index));
  });

  it.each([
    ["sync_committees", 0, 1],
    ["pending_deposits", 4, 5],
    ["pending_partial_withdrawals", 4, 5],
    ["pending_consolidations", 4, 5],
    ["proposer_lookahead", 5, 6],
  ])("%s cannot be asked of a state of epoch %i, but of one of epoch %i", async (name, before, first) => {
    expect(await caller.error(`get_${STATES}_${name}`, [before * SLOTS_PER_EPOCH])).toMatchObject({ code: INVALID });
    await caller.call(`get_${STATES}_${name}`, [first * SLOTS_PER_EPOCH]);
  });

  it("the sync committee of an epoch before altair does not exist", async () => {
    expect(await caller.error(`get_${STATES}_sync_committees`, ["head", 0])).toMatchObject({ code: INVALID });
  });
});
