import { DOMAIN_SELECTION_PROOF, MAX_COMMITTEES_PER_SLOT, SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { beforeEach, expect, it } from "vitest";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { ValidatorSigner } from "../../../src/dev/validators/signer.ts";
import { Caller } from "../../support/api/caller.ts";
import { openDevChain, QUIET } from "../../support/chain/dev-chain.ts";

const SUBSCRIBE = "post_v1_validator_beacon_committee_subscriptions";
const VALIDATORS = 64;
const NOW = 3;

let devChain: DevChain;
let caller: Caller;
beforeEach(async () => {
  ({ devChain } = await openDevChain({ ...QUIET, validators: VALIDATORS }));
  caller = new Caller(devChain.api);
  await devChain.clock.advanceTo(NOW);
});

const subscription = (overrides: object = {}) => ({
  validator_index: "5",
  committee_index: "1",
  committees_at_slot: "2",
  slot: String(NOW + 1),
  is_aggregator: true,
  ...overrides,
});

const subscribed = () =>
  devChain.chain.subscriptions
    .list()
    .map(({ slot, committeeIndex, subnet, isAggregator }) => [slot, committeeIndex, subnet, isAggregator]);

function proven(overrides: { committee?: unknown; slot?: number; validator?: number; by?: number; key?: string } = {}) {
  const { committee = "1", slot = NOW + 1, validator = 5, by = validator } = overrides;
  const signer = new ValidatorSigner(devChain.config, devChain.keys);
  const signature = signer.sign(by, signer.signingRoot(ssz.Slot, slot, DOMAIN_SELECTION_PROOF, slot));
  const key = overrides.key ?? toHex(devChain.keys.publicKey(validator)!);
  return [committee, String(slot), true, key, toHex(signature)];
}

it("stores committee subscriptions in every parameter format", async () => {
  const other = subscription({ slot: NOW + 2, committee_index: 0, is_aggregator: false, validator_index: 6 });
  const expected = [
    [NOW + 1, 1, 2 * (NOW + 1) + 1, true],
    [NOW + 2, 0, 2 * (NOW + 2), false],
  ];
  for (const params of [
    [subscription(), other],
    [[subscription(), other]],
    { subscriptions: [subscription(), other] },
  ]) {
    expect(await caller.call(SUBSCRIBE, params)).toBe(true);
    // Repeating it is harmless.
    expect(subscribed()).toEqual(expected);
  }
});

it("derives aggregators from the selection proof", async () => {
  const params = proven();
  expect(await caller.call(SUBSCRIBE, params)).toBe(true);
  // All members of a committee of four are selected.
  expect(subscribed()).toEqual([[NOW + 1, 1, 2 * (NOW + 1) + 1, true]]);
  const [, , , key] = params;
  expect(await caller.call(SUBSCRIBE, [...proven().with(3, (key as string).slice(2))])).toBe(true);
});

it("drops them after their slot", async () => {
  await caller.call(SUBSCRIBE, [subscription(), subscription({ slot: 2 * SLOTS_PER_EPOCH - 1 })]);
  await devChain.clock.advanceTo(NOW + 2);
  expect(subscribed()).toHaveLength(2);
  await devChain.clock.advanceTo(NOW + 3);
  expect(subscribed().map(([slot]) => slot)).toEqual([2 * SLOTS_PER_EPOCH - 1]);
});

it("lets validators subscribe from the slot before the current to the end of the next epoch", async () => {
  for (const slot of [NOW - 1, NOW, 2 * SLOTS_PER_EPOCH - 1]) {
    expect(await caller.call(SUBSCRIBE, [subscription({ slot })])).toBe(true);
  }
});

it("accepts the others of a list with past slots", async () => {
  const list = [subscription({ slot: 0 }), subscription({ slot: NOW - 2 }), subscription()];
  expect(await caller.call(SUBSCRIBE, [list])).toBe(true);
  expect(subscribed().map(([slot]) => slot)).toEqual([NOW + 1]);
  expect(await caller.call(SUBSCRIBE, [[subscription({ slot: NOW - 2 })]])).toBe(true);
  expect(await caller.call(SUBSCRIBE, proven({ slot: NOW - 2 }))).toBe(true);
  expect(subscribed()).toHaveLength(1);
});

it("reports the invalid items of a list, and accepts the others", async () => {
  const list = [
    subscription({ validator_index: String(VALIDATORS) }),
    subscription(),
    subscription({ slot: NOW - 2, committee_index: String(MAX_COMMITTEES_PER_SLOT) }),
    subscription({ slot: NOW + 2 }),
  ];
  expect(await caller.error(SUBSCRIBE, [list])).toMatchObject({
    code: -32602,
    data: {
      failures: [
        { index: 0, message: `No validator has the index ${VALIDATORS}.` },
        { index: 2, message: expect.stringContaining("is too high") },
      ],
    },
  });
  expect(subscribed().map(([slot]) => slot)).toEqual([NOW + 1, NOW + 2]);
});

it("rejects invalid subscriptions", async () => {
  const { validator_index: _missing, ...incomplete } = subscription();
  const wrong = [
    subscription({ committee_index: String(MAX_COMMITTEES_PER_SLOT) }),
    subscription({ committee_index: "18446744073709551615" }),
    subscription({ validator_index: String(VALIDATORS) }),
    subscription({ slot: 2 * SLOTS_PER_EPOCH }),
    subscription({ slot: "18446744073709551615" }),
    subscription({ committees_at_slot: 0 }),
    subscription({ committees_at_slot: "18446744073709551615" }),
    subscription({ is_aggregator: "true" }),
    subscription({ slot: -1 }),
    incomplete,
    {},
    null,
    "x",
  ];
  for (const each of wrong) {
    expect(await caller.error(SUBSCRIBE, [[each]]), JSON.stringify(each)).toMatchObject({ code: -32602 });
  }
  for (const params of [[], [[]], {}, { subscription: subscription() }]) {
    expect(await caller.error(SUBSCRIBE, params)).toMatchObject({ code: -32602 });
  }
  expect(subscribed()).toEqual([]);
});

it("rejects an invalid selection proof", async () => {
  for (const params of [
    proven({ by: 6 }),
    proven({ key: `0x${"ab".repeat(48)}` }),
    proven({ key: "0xab" }),
    proven({ committee: "2" }),
    proven({ committee: "x" }),
    proven({ slot: NOW - 2, by: 6 }),
    proven({ slot: 2 * SLOTS_PER_EPOCH }),
    proven().with(1, String(NOW + 2)),
    proven().with(2, "true"),
    proven().with(4, `0x${"00".repeat(96)}`),
    proven().with(4, "0x"),
    proven().slice(0, 4),
    [...proven(), 1],
  ]) {
    expect(await caller.error(SUBSCRIBE, params), JSON.stringify(params)).toMatchObject({ code: -32602 });
  }
  expect(subscribed()).toEqual([]);
});
