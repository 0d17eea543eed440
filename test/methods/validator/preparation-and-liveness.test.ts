import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { getBlockRootAtSlot } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { toHex, toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEFAULT_CHAIN_SETTINGS } from "../../../src/chain/settings.ts";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import { Caller } from "../../support/api/caller.ts";
import { ByHand } from "../../support/chain/by-hand.ts";
import {
  type OpenedDevChain,
  openDevChain,
  openQuietDevChain,
  QUIET,
  startQuietDevChain,
} from "../../support/chain/dev-chain.ts";

const BLOCK = "get_v3_validator_blocks_slot";
const PREPARE = "post_v1_validator_prepare_beacon_proposer";
const REGISTER = "post_v1_validator_register_validator";
const SUBSCRIBE = "post_v1_validator_sync_committee_subscriptions";
const LIVENESS = "post_v1_validator_liveness_epoch";
const PROPOSERS = "get_v2_validator_duties_proposer_epoch";

const FULU = { forks: [{ fork: "fulu", epoch: 0 }] as const };
const FEE_RECIPIENT = `0x${"ab".repeat(20)}`;
const INVALID = -32602;
const EVERYBODY = Array.from({ length: 16 }, (_, index) => String(index));

/** The proposer of a slot of the first epoch, and its RANDAO reveal. */
async function proposalAt(devChain: DevChain, slot: number) {
  const duties = await new Caller(devChain.api).call(PROPOSERS, [Math.floor(slot / SLOTS_PER_EPOCH)]);
  const proposer = Number(duties[slot % SLOTS_PER_EPOCH].validator_index);
  return { proposer, reveal: toHex(new ByHand(devChain).signer.randaoReveal(proposer, slot)) };
}

describe("a block of the third version", () => {
  it("has its value as metadata, and is never blinded", async () => {
    const { devChain } = await openQuietDevChain(2, FULU);
    await devChain.clock.advanceTo(3);
    const caller = new Caller(devChain.api);
    const { reveal, proposer } = await proposalAt(devChain, 3);
    const params = [3, reveal, "0xff01", false, "0"];
    const contents = await caller.call(BLOCK, params);
    expect(contents).toMatchObject({ kzg_proofs: [], blobs: [] });
    expect(contents.block).toMatchObject({ slot: "3", proposer_index: String(proposer) });
    expect(contents.block.body.graffiti).toBe(`0xff01${"00".repeat(30)}`);
    const meta = await caller.meta("get_v3_validator_block", params);
    expect(meta).toMatchObject({ version: "fulu", execution_payload_blinded: false, execution_payload_value: "0" });
    // Including the pooled attestations has a value.
    expect(BigInt(String(meta?.consensus_block_value))).toBeGreaterThan(0n);
  });

  it("pays to the prepared fee recipient", async () => {
    const { devChain, complaints } = await openDevChain({ ...FULU, ...QUIET });
    const { clock } = devChain;
    const caller = new Caller(devChain.api);
    await clock.advanceTo(1);
    const feeRecipientAt = async (slot: number) => {
      const { reveal } = await proposalAt(devChain, slot);
      return (await caller.call(BLOCK, [slot, reveal])).block.body.execution_payload.fee_recipient;
    };
    expect(await feeRecipientAt(1)).toBe(`0x${"00".repeat(20)}`);
    const preparations = EVERYBODY.map((validator_index) => ({ validator_index, fee_recipient: FEE_RECIPIENT }));
    expect(await caller.call(PREPARE, [preparations])).toBe(true);
    expect(await feeRecipientAt(1)).toBe(FEE_RECIPIENT);
    const other = `0x${"cd".repeat(20)}`;
    const { proposer } = await proposalAt(devChain, 2);
    await caller.call(PREPARE, [
      [{ validator_index: proposer, fee_recipient: other.toUpperCase().replace("0X", "0x") }],
    ]);
    expect(await feeRecipientAt(2)).toBe(other);
    // Payloads of the built-in engine have no fees, so there is no warning.
    expect(complaints).toEqual([]);
  });

  it("pays to the suggested fee recipient without a preparation", async () => {
    const settings = { ...DEFAULT_CHAIN_SETTINGS, suggestedFeeRecipient: new Uint8Array(20).fill(0xee) };
    const { devChain, complaints } = await openDevChain({ ...FULU, ...QUIET, chain: settings });
    await devChain.clock.advanceTo(1);
    const { reveal } = await proposalAt(devChain, 1);
    const { block } = await new Caller(devChain.api).call(BLOCK, [1, reveal]);
    expect(block.body.execution_payload.fee_recipient).toBe(`0x${"ee".repeat(20)}`);
    expect(complaints).toEqual([]);
  });
});

it("indices without a validator are not stored, so they cannot evict those of validators", async () => {
  const { devChain } = await openDevChain({ ...FULU, ...QUIET });
  const { preparations, headState } = devChain.chain;
  const caller = new Caller(devChain.api);
  const count = headState.validators.length;
  const prepared = [1, count, 1000].map(String);
  expect(
    await caller.call(PREPARE, [
      prepared.map((validator_index) => ({ validator_index, fee_recipient: FEE_RECIPIENT })),
    ]),
  ).toBe(true);
  expect(preparations.feeRecipient(1, 0)).toEqual(new Uint8Array(20).fill(0xab));
  expect(preparations.feeRecipient(count, 0)).toBeUndefined();
  expect(preparations.feeRecipient(1000, 0)).toBeUndefined();
});

it("preparations expire after two more epochs", async () => {
  const { devChain } = await openDevChain({ ...FULU, ...QUIET });
  const { chain } = devChain;
  const caller = new Caller(devChain.api);
  await caller.call(PREPARE, [[{ validator_index: "1", fee_recipient: FEE_RECIPIENT }]]);
  expect(chain.preparations.feeRecipient(1, 2)).toEqual(new Uint8Array(20).fill(0xab));
  expect(chain.preparations.feeRecipient(1, 3)).toBeUndefined();
  expect(chain.preparations.feeRecipient(2, 0)).toBeUndefined();

  const { pubkey } = registration(devChain, 1).message;
  expect(await caller.call(REGISTER, [[registration(devChain, 1, { timestamp: 5 })]])).toBe(true);
  expect(await caller.call(REGISTER, [[registration(devChain, 1, { timestamp: 4 })]])).toBe(true);
  expect(chain.preparations.registration(pubkey, 2)?.message.timestamp).toBe(5);
  expect(chain.preparations.registration(pubkey, 3)).toBeUndefined();
});

/** builder-specs: the builder domain uses the genesis fork version and a zero genesis validators root. */
function registration(devChain: DevChain, validator: number, { timestamp = 5, by = validator } = {}) {
  const { ValidatorRegistrationV1 } = ssz.bellatrix;
  const message = {
    fee_recipient: FEE_RECIPIENT,
    gas_limit: "30000000",
    timestamp: String(timestamp),
    pubkey: toHex(devChain.keys.publicKey(validator)!),
  };
  const forkData = { currentVersion: devChain.config.GENESIS_FORK_VERSION, genesisValidatorsRoot: new Uint8Array(32) };
  const domain = Buffer.concat([
    Buffer.from("00000001", "hex"),
    ssz.phase0.ForkData.hashTreeRoot(forkData).subarray(0, 28),
  ]);
  const objectRoot = ValidatorRegistrationV1.hashTreeRoot(ValidatorRegistrationV1.fromJson(message));
  const signature = devChain.keys.secretKey(by)!.sign(ssz.phase0.SigningData.hashTreeRoot({ objectRoot, domain }));
  return { message, signature: signature.toHex() };
}

it("registrations are accepted individually if they are validly signed and not in the future", async () => {
  const { devChain } = await openDevChain({ ...FULU, ...QUIET, validators: 40 });
  const { chain } = devChain;
  const caller = new Caller(devChain.api);
  const isKept = (validator: number) =>
    chain.preparations.registration(toHex(devChain.keys.publicKey(validator)!), 0) !== undefined;
  const altered = registration(devChain, 4);
  altered.message.gas_limit = "1";
  const stranger = registration(devChain, 5);
  stranger.message.pubkey = `0x${"22".repeat(48)}`;
  const list = [
    registration(devChain, 1),
    registration(devChain, 2, { by: 3 }),
    registration(devChain, 3, { timestamp: Date.UTC(2100, 0) / 1000 }),
    altered,
    stranger,
    { ...registration(devChain, 6), signature: `0x${"00".repeat(96)}` },
    // Enough to be verified in threads.
    ...Array.from({ length: 33 }, (_, index) => registration(devChain, 7 + index)),
    // Enough to be processed in batches.
    ...Array.from({ length: 300 }, () => stranger),
    altered,
  ];
  const error = await caller.error(REGISTER, [list]);
  expect(error).toMatchObject({ code: -32003, data: { status: 400 } });
  expect(error.data.failures).toEqual([
    { index: 1, message: expect.stringContaining("not signed by validator 2") },
    { index: 2, message: expect.stringContaining("The timestamp 4102444800") },
    { index: 3, message: expect.stringContaining("not signed by validator 4") },
    { index: 5, message: expect.stringContaining("not signed by validator 6") },
    { index: 339, message: expect.stringContaining("not signed by validator 4") },
  ]);
  expect(Array.from({ length: 8 }, (_, validator) => isKept(validator))).toEqual([
    false,
    true,
    false,
    false,
    false,
    false,
    false,
    true,
  ]);
  expect(isKept(39)).toBe(true);
  // The standard requires that unknown keys are ignored without an error.
  expect(await caller.call(REGISTER, [[stranger]])).toBe(true);
  expect(chain.preparations.registration(stranger.message.pubkey, 0)).toBeUndefined();
});

it("sync committee subnets stay until the last subscription ends", async () => {
  const { devChain } = await openDevChain({ ...FULU, ...QUIET });
  const { chain, clock } = devChain;
  const caller = new Caller(devChain.api);
  const subscription = (positions: number[], untilEpoch: number, validator = 1) => ({
    validator_index: String(validator),
    sync_committee_indices: positions.map(String),
    until_epoch: String(untilEpoch),
  });
  const accepted = [subscription([0, 31], 2), subscription([7], 1, 2), subscription([9], 1_000_000, 3)];
  expect(await caller.call(SUBSCRIBE, [accepted])).toBe(true);
  expect(chain.syncSubscriptions.list()).toEqual([
    { subnet: 0, untilEpoch: 2 },
    // Committees after the next period are unknown.
    { subnet: 1, untilEpoch: 16 },
    { subnet: 3, untilEpoch: 2 },
  ]);
  await clock.advanceTo(2 * SLOTS_PER_EPOCH);
  expect(chain.syncSubscriptions.list()).toEqual([{ subnet: 1, untilEpoch: 16 }]);
  // Invalid items are reported and expired ones ignored. The others are accepted.
  const mixed = [subscription([32], 3), subscription([0], 1), subscription([31], 3), subscription([0], 3, 16)];
  expect(await caller.error(SUBSCRIBE, [mixed])).toMatchObject({
    code: INVALID,
    data: {
      failures: [
        { index: 0, message: expect.stringContaining("position 32") },
        { index: 3, message: "No validator has the index 16." },
      ],
    },
  });
  expect(await caller.call(SUBSCRIBE, [[subscription([0], 1)]])).toBe(true);
  expect(chain.syncSubscriptions.list()).toEqual([
    { subnet: 1, untilEpoch: 16 },
    { subnet: 3, untilEpoch: 3 },
  ]);
});

it("preparations are stored on a chain before their fork", async () => {
  const { devChain } = await openDevChain(QUIET);
  const caller = new Caller(devChain.api);
  const preparations = [{ validator_index: "1", fee_recipient: FEE_RECIPIENT }];
  expect(await caller.call(PREPARE, [preparations])).toBe(true);
  expect(toHex(devChain.chain.preparations.feeRecipient(1, 0)!)).toBe(FEE_RECIPIENT);
  const subscriptions = [{ validator_index: "1", sync_committee_indices: ["0"], until_epoch: "1" }];
  expect(await caller.call(SUBSCRIBE, [subscriptions])).toBe(true);
  expect(devChain.chain.syncSubscriptions.list()).toEqual([{ subnet: 0, untilEpoch: 1 }]);
});

describe.each([
  { name: "phase0", forks: [] },
  { name: "fulu", ...FULU },
])("on $name", ({ forks }) => {
  /** In the middle of the third epoch. */
  const HEAD = 2 * SLOTS_PER_EPOCH + 4;
  let opened: OpenedDevChain;
  let caller: Caller;
  beforeAll(async () => {
    // This instance did not observe the history, so it only knows what is on chain.
    opened = await startQuietDevChain(HEAD, { forks });
    await opened.devChain.clock.advanceTo(HEAD + 1);
    caller = new Caller(opened.devChain.api);
  });
  afterAll(() => opened.close());

  it("validators with attestations on chain or currently received are live", async () => {
    const { devChain } = opened;
    const lively = async (epoch: number): Promise<string[]> => {
      const answer: { index: string; is_live: boolean }[] = await caller.call(LIVENESS, [epoch, EVERYBODY]);
      expect(answer.map(({ index }) => index)).toEqual(EVERYBODY);
      return answer.filter(({ is_live }) => is_live).map(({ index }) => index);
    };
    expect(await lively(1)).toEqual(EVERYBODY);
    const before = await lively(2);
    // The committees of slots before the head have attested, those of later slots have not.
    expect(before.length).toBeGreaterThanOrEqual(8);
    expect(before.length).toBeLessThan(16);
    const attesters = await new ByHand(devChain).attest(HEAD + 1, devChain.chain.head.root);
    const numbers = (indices: (string | number)[]) => indices.map(Number).sort((a, b) => a - b);
    expect(numbers(await lively(2))).toEqual(numbers([...new Set([...numbers(before), ...attesters])]));
    expect(attesters.some((attester) => !before.includes(String(attester)))).toBe(true);
  });

  it("liveness covers known validators in the current and the previous epoch", async () => {
    expect((await caller.error(LIVENESS, [3, ["0"]])).code).toBe(INVALID);
    expect((await caller.error(LIVENESS, [0, ["0"]])).code).toBe(INVALID);
    expect((await caller.error(LIVENESS, [2, ["16"]])).code).toBe(INVALID);
    expect(await caller.call("post_v1_validator_liveness", [1, ["0", "0"]])).toHaveLength(2);
  });

  it("proposers match the first version; the dependent root is an epoch older", async () => {
    const { headState } = opened.devChain.chain;
    for (const epoch of [0, 1, 2, 3]) {
      expect(await caller.call(PROPOSERS, [epoch])).toEqual(
        await caller.call("get_v1_validator_duties_proposer", [epoch]),
      );
      const slot = Math.max(0, (epoch - 1) * SLOTS_PER_EPOCH - 1);
      const dependentRoot = toRootHex(getBlockRootAtSlot(headState, slot));
      expect(await caller.meta("get_v2_validator_duties_proposer", [epoch])).toEqual({
        dependent_root: dependentRoot,
        execution_optimistic: false,
      });
    }
  });
});
