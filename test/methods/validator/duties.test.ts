import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { toHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { initialiseDatabase } from "../../../src/chain/anchor/anchor.ts";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { Caller } from "../../support/api/caller.ts";
import { type OpenedDevChain, openDevChain, QUIET, startQuietDevChain } from "../../support/chain/dev-chain.ts";
import { inDataDirectory } from "../../support/directories/data-directory.ts";
import { tempDirectory } from "../../support/directories/temp-directory.ts";

interface AttesterDuty {
  pubkey: string;
  validator_index: string;
  committee_index: string;
  committee_length: string;
  committees_at_slot: string;
  validator_committee_index: string;
  slot: string;
}

const VALIDATORS = 64;
const EVERYBODY = Array.from({ length: VALIDATORS }, (_, index) => index);
const ATTESTER = "get_v1_validator_duties_attester";
const DATA = "get_v1_validator_attestation_data";
const PROPOSER = "get_v1_validator_duties_proposer";
/** The head's slot, in the third epoch. */
const HEAD = 2 * SLOTS_PER_EPOCH + 3;

let opened: OpenedDevChain;
let devChain: DevChain;
let caller: Caller;
beforeAll(async () => {
  opened = await startQuietDevChain(HEAD, { validators: VALIDATORS });
  devChain = opened.devChain;
  caller = new Caller(devChain.api);
});
afterAll(() => opened.close());

const keyOf = (index: number) => toHex(devChain.keys.publicKey(index)!);

describe("attester duties", () => {
  it.each([0, 1, 2, 3])(
    "give every active validator of epoch %i one duty, by slot, committee and position",
    async (epoch) => {
      const duties: AttesterDuty[] = await caller.call(ATTESTER, [epoch, EVERYBODY]);
      expect(duties.map((duty) => Number(duty.validator_index)).sort((a, b) => a - b)).toEqual(EVERYBODY);
      const place = (duty: AttesterDuty) =>
        (Number(duty.slot) * 64 + Number(duty.committee_index)) * 2048 + Number(duty.validator_committee_index);
      expect(duties.map(place)).toEqual(duties.map(place).sort((a, b) => a - b));
      for (const { pubkey, validator_index, slot } of duties) {
        expect(pubkey).toBe(keyOf(Number(validator_index)));
        expect(Math.floor(Number(slot) / SLOTS_PER_EPOCH)).toBe(epoch);
      }
    },
  );

  it.each([1, 2, 3])("agree with the committees of epoch %i", async (epoch) => {
    const duties: AttesterDuty[] = await caller.call(ATTESTER, [epoch, EVERYBODY]);
    const committees: { index: string; slot: string; validators: string[] }[] = await caller.call(
      "get_v1_beacon_states_stateId_committees_epoch",
      ["head", epoch],
    );
    for (const duty of duties) {
      const committee = committees.find(({ index, slot }) => index === duty.committee_index && slot === duty.slot)!;
      expect(committee.validators[Number(duty.validator_committee_index)]).toBe(duty.validator_index);
      expect(String(committee.validators.length)).toBe(duty.committee_length);
      expect(String(committees.filter(({ slot }) => slot === duty.slot).length)).toBe(duty.committees_at_slot);
    }
  });

  it("find validators by index and key in every notation, each once", async () => {
    const expected = await caller.call(ATTESTER, ["2", ["1", 3, 5]]);
    expect(expected).toHaveLength(3);
    const key = keyOf(1);
    for (const first of [key, key.slice(2), key.toUpperCase().replace("0X", "0x")]) {
      expect(await caller.call(ATTESTER, [2, [keyOf(5), "3", first]])).toEqual(expected);
    }
    expect(await caller.call(ATTESTER, [2, [keyOf(1), 1, "3", 5, 3]])).toEqual(expected);
    expect(await caller.call("post_v1_validator_duties_attester", { validators: [5, 3, 1], epoch: 2 })).toEqual(
      expected,
    );
    expect(await caller.call("post_v1_validator_duties_attester_epoch", [2, [1, 3, 5]])).toEqual(expected);
  });

  it("omit unknown validators", async () => {
    expect(await caller.call(ATTESTER, [2, [VALIDATORS, `0x${"ab".repeat(48)}`, 2 ** 40 - 1]])).toEqual([]);
    expect(await caller.call(ATTESTER, [2, [VALIDATORS, 7]])).toHaveLength(1);
  });

  it("have the dependent root", async () => {
    const rootAt = async (slot: number) => (await devChain.chain.blocks.canonicalAtSlot(slot))!.root;
    expect(await caller.meta(ATTESTER, [2, [0]])).toEqual({
      dependent_root: await rootAt(SLOTS_PER_EPOCH - 1),
      execution_optimistic: false,
    });
    expect(await caller.meta(ATTESTER, [3, [0]])).toHaveProperty(
      "dependent_root",
      await rootAt(2 * SLOTS_PER_EPOCH - 1),
    );
    expect(await caller.meta(ATTESTER, [0, [0]])).toHaveProperty("dependent_root", await rootAt(0));
    expect(await caller.meta(PROPOSER, [2])).toHaveProperty("dependent_root", await rootAt(2 * SLOTS_PER_EPOCH - 1));
    expect(await caller.meta(PROPOSER, [3])).toHaveProperty("dependent_root", devChain.chain.head.root);
    expect(await caller.meta(PROPOSER, [0])).toHaveProperty("dependent_root", await rootAt(0));
  });

  it.each([
    ["no parameters", []],
    ["no validators", [2]],
    ["an empty list", [2, []]],
    ["a number for a list", [2, 5]],
    ["a string for a list", [2, "5"]],
    ["an index that no registry has", [2, [String(2 ** 40)]]],
    ["the last of all indices", [2, ["18446744073709551615"]]],
    ["a short key", [2, ["0xabcd"]]],
    ["a word", [2, ["everybody"]]],
    ["a negative index", [2, [-1]]],
    ["a null in the list", [2, [null]]],
    ["an epoch that is no number", ["head", [1]]],
    ["the epoch after the next", [4, [1]]],
    ["an epoch beyond all", ["1152921504606846975", [1]]],
    ["an epoch whose slots are no uint64", ["18446744073709551615", [1]]],
    ["too many parameters", [2, [1], 3]],
  ])("are not given for %s", async (_what, params) => {
    for (const name of [ATTESTER, "post_v1_validator_duties_attester"]) {
      expect(await caller.error(name, params)).toMatchObject({ code: -32602 });
    }
  });
});

it.each<[string, unknown[], string]>([
  [
    PROPOSER,
    ["1152921504606846975"],
    "Duties of epoch 1152921504606846975 are not known yet: the last known epoch is 3.",
  ],
  [
    "get_v1_beacon_states_root",
    ["18446744073709551615"],
    `Slot 18446744073709551615 is in the future: the head is at slot ${HEAD}. On a dev chain, dev_advance gets there.`,
  ],
  [
    "get_v1_beacon_blocks_blockId",
    ["9007199254740993"],
    `Slot 9007199254740993 is in the future: the head is at slot ${HEAD}. On a dev chain, dev_advance gets there.`,
  ],
  [
    "get_v1_beacon_states_stateId_validators_validatorId",
    ["head", "18446744073709551614"],
    `The state of slot ${HEAD} has no validator 18446744073709551614.`,
  ],
  [
    "get_v1_beacon_states_stateId_committees_epoch",
    ["head", null, "9223372036854775808"],
    "No committee 9223372036854775808: a slot has at most 4 committees.",
  ],
  [
    "get_v1_beacon_states_stateId_committees_epoch",
    ["head", null, null, "18446744073709551615"],
    "Slot 18446744073709551615 is not in the requested epoch 2.",
  ],
  [
    "get_v1_beacon_states_stateId_committees_epoch",
    ["head", "9007199254740992"],
    "The committees of epoch 9007199254740992 are not known yet: a state of epoch 2 determines those up to epoch 3.",
  ],
  [DATA, ["18446744073709551615", 0], `Slot 18446744073709551615 is too far ahead: the current slot is ${HEAD}.`],
  [
    "post_v1_beacon_rewards_attestations_epoch",
    ["1152921504606846975"],
    "The rewards of epoch 1152921504606846975 are not available: the next epoch is not over.",
  ],
])("%s of %j shows the number as it was given", async (name, params, message) => {
  expect(await caller.error(name, params)).toMatchObject({ message });
});

describe("proposer duties", () => {
  it("list every slot of an epoch, including slot 0, and match the actual proposers", async () => {
    for (const epoch of [0, 1, 2]) {
      const duties = await caller.call(PROPOSER, [epoch]);
      const slots = Array.from({ length: SLOTS_PER_EPOCH }, (_, i) => epoch * SLOTS_PER_EPOCH + i);
      expect(duties.map(({ slot }: { slot: string }) => Number(slot))).toEqual(slots);
      for (const { slot, validator_index, pubkey } of duties) {
        expect(pubkey).toBe(keyOf(Number(validator_index)));
        if (slot === "0" || Number(slot) > HEAD) continue;
        const { message } = await caller.call("get_v1_beacon_blocks_blockId", [slot]);
        expect(message.proposer_index).toBe(validator_index);
      }
    }
    expect(await caller.call("get_v1_validator_duties_proposer_epoch", ["2"])).toEqual(
      await caller.call(PROPOSER, [2]),
    );
  });

  it.each([[[]], [[4]], [["x"]], [[-1]], [[2, 2]]])("are rejected for %j", async (params) => {
    expect(await caller.error(PROPOSER, params)).toMatchObject({ code: -32602 });
  });
});

it.each([
  ["phase0", []],
  ["fulu", [{ fork: "fulu" as const, epoch: 0 }]],
])("duties of the next epoch hold when it has come (%s)", async (fork, forks) => {
  const { devChain } = await openDevChain({ forks });
  const { call, meta } = bound(new Caller(devChain.api));
  await devChain.clock.advanceTo(2 * SLOTS_PER_EPOCH - 1);
  const before = [await call(ATTESTER, [2, [0, 1, 2]]), await meta(ATTESTER, [2, [0]])];
  const proposers = await call(PROPOSER, [2]);

  await devChain.clock.advanceTo(2 * SLOTS_PER_EPOCH + 1);

  expect([await call(ATTESTER, [2, [0, 1, 2]]), await meta(ATTESTER, [2, [0]])]).toEqual(before);
  // Before fulu the proposers of an epoch depend on balances that may still change at its beginning.
  if (fork === "fulu") expect(await call(PROPOSER, [2])).toEqual(proposers);
});

it("duties of epochs before the node's history are not found", async () => {
  const directory = tempDirectory();
  const { chain, clock } = devChain;
  const anchor = await chain.blocks.byRoot(chain.head.root);
  const identity = (await opened.db.meta.getIdentity())!;
  await inDataDirectory(directory, async (db) => {
    const state = chain.headState.clone();
    await initialiseDatabase(db, chain.config, { state, block: anchor!.signed }, identity);
    await db.meta.putClockSlot(clock.currentSlot);
  });
  const late = new Caller((await openDevChain({ validators: VALIDATORS, ...QUIET }, directory)).devChain.api);
  // Current duties do not depend on the node's history.
  for (const [name, params] of [
    [ATTESTER, [2, EVERYBODY]],
    [PROPOSER, [2]],
    [DATA, [HEAD, 0]],
  ] as const) {
    expect(await late.call(name, [...params])).toEqual(await caller.call(name, [...params]));
    expect(await late.meta(name, [...params])).toEqual(await caller.meta(name, [...params]));
  }
  for (const [name, params] of [
    [ATTESTER, [0, [1]]],
    [PROPOSER, [0]],
    [DATA, [1, 0]],
  ] as const) {
    expect(await late.error(name, [...params]), name).toMatchObject({ code: -32001 });
  }
});

it("duties, attestation data, blocks and subscriptions are rejected while the node is syncing", async () => {
  const { devChain } = await openDevChain(QUIET);
  const caller = new Caller(devChain.api);
  await devChain.clock.advanceTo(11);
  devChain.chain.status.setSource({ isSyncing: true });
  const slot = devChain.clock.currentSlot;
  const root = `0x${"00".repeat(32)}`;
  const subscription = {
    validator_index: "0",
    committee_index: "0",
    committees_at_slot: "1",
    slot: String(slot),
    is_aggregator: true,
  };
  for (const [name, params] of [
    [ATTESTER, [1, [0]]],
    ["post_v1_validator_duties_attester", [1, [0]]],
    [PROPOSER, [1]],
    ["get_v1_validator_block", [slot, `0x${"00".repeat(96)}`]],
    ["get_v1_validator_attestation_data", [slot, 0]],
    ["get_v1_validator_attestation", [slot, 0]],
    ["get_v1_validator_aggregate_attestation", [slot, root]],
    ["get_v1_validator_aggregate_and_proof", [slot, root]],
    ["get_v2_validator_aggregate_attestation", [slot, root, 0]],
    ["post_v1_validator_beacon_committee_subscriptions", [subscription]],
  ] as const) {
    expect(await caller.error(name, [...params]), name).toMatchObject({ code: -32002, data: { status: 503 } });
  }
});

function bound(caller: Caller) {
  return { call: caller.call.bind(caller), meta: caller.meta.bind(caller) };
}
