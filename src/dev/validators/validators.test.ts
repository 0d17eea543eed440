import { PublicKey, Signature, verify } from "@chainsafe/blst";
import {
  EPOCHS_PER_SYNC_COMMITTEE_PERIOD,
  type ForkName,
  SLOTS_PER_EPOCH,
  SYNC_COMMITTEE_SIZE,
  SYNC_COMMITTEE_SUBNET_COUNT,
} from "@lodestar/params";
import { beaconBlockToBlinded, getBlockProposerSignatureSet } from "@lodestar/state-transition";
import {
  type altair,
  type BlockContents,
  isElectraSingleAttestation,
  type SignedBlindedBeaconBlock,
} from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/chain/clock/manual-clock.ts";
import { createLocalApi } from "../../../test/support/dev/validators/local-api.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { isFullTier } from "../../../test/support/suite/tier.ts";
import { devChainConfig } from "../chain-config.ts";
import type { ScheduledFork } from "../forks.ts";
import { createDevGenesis } from "../genesis.ts";
import { DEFAULT_PLAN, type DutyPlan } from "./duty-plan.ts";
import { type SigningRecord, SlashingProtection } from "./slashing-protection.ts";
import { createDevValidators } from "./validators.ts";

const genesisTime = 1_700_000_000;
const slotSeconds = 6;
const attestationSeconds = 2;
const aggregateSeconds = 4;
const fuluFromGenesis: ScheduledFork[] = [{ fork: "fulu", epoch: 0 }];

interface SetUpOptions {
  validatorCount?: number;
  speed?: number;
  hasBuilder?: boolean;
  plan?: () => DutyPlan;
  isPast?: (slot: number) => boolean;
}

function setUp(
  forks: ScheduledFork[],
  { validatorCount = 64, speed = 1, hasBuilder = false, plan = () => DEFAULT_PLAN, isPast }: SetUpOptions = {},
) {
  const chainConfig = devChainConfig({ forks, slotSeconds, genesisTime });
  const genesis = createDevGenesis({ chainConfig, validatorCount, genesisTime });
  const api = createLocalApi(genesis);
  const clock = new ManualClock(genesisTime, slotSeconds, speed);
  const logger = createRecordingLogger();
  const { config, keys } = genesis;
  const validators = createDevValidators({
    api,
    clock,
    config,
    keys,
    logger,
    plan,
    isPast,
    hasBuilder: () => hasBuilder,
  });
  const warnings = () => logger.records.filter(({ level }) => level === "warn");
  const failedDuties = () => warnings().map(({ fields }) => fields?.duty);
  const callsOf = (method: (typeof api.calls)[number]) => api.calls.filter((name) => name === method).length;
  return { api, clock, config, keys, validators, logger, warnings, failedDuties, callsOf };
}

it("skips remaining duties of a slot that has passed", async () => {
  let present = 1;
  const { api, clock, validators, callsOf, warnings } = setUp(fuluFromGenesis, { isPast: (slot) => slot < present });
  clock.advanceTo(clock.slotStartSeconds(1));
  const duties = validators.onSlot(1, "clock");
  await clock.untilAwaited(clock.slotStartSeconds(1) + aggregateSeconds);
  present = 7;
  clock.advanceTo(clock.slotStartSeconds(2));
  await duties;
  await validators.onSlot(5, "lockstep");
  expect(api.chain.blocks).toHaveLength(1);
  expect([callsOf("submitPoolAttestationsV2"), callsOf("publishAggregateAndProofsV2")]).toEqual([1, 0]);
  expect(warnings()).toEqual([]);
});

describe("dev validators in lockstep", () => {
  // test/dev/lockstep.test.ts covers all forks and a sync committee change.
  if (isFullTier) {
    it("finalize across the electra fork with valid signatures", async () => {
      const lastSlot = 4 * SLOTS_PER_EPOCH;
      const forks: ScheduledFork[] = [
        { fork: "deneb", epoch: 0 },
        { fork: "electra", epoch: 1 },
      ];
      const { api, keys, validators, warnings, callsOf } = setUp(forks, { validatorCount: 16 });
      for (let slot = 0; slot <= lastSlot; slot++) await validators.onSlot(slot, "lockstep");

      expect(warnings()).toEqual([]);
      const slots = Array.from({ length: lastSlot }, (_, i) => i + 1);
      expect(api.chain.blocks.map(({ message }) => message.slot)).toEqual(slots);
      expect(api.chain.head.finalizedCheckpoint.epoch).toBe(2);

      const withFullSyncCommittee = api.chain.blocks
        .filter(({ message }) => {
          const { syncCommitteeBits } = (message as altair.BeaconBlock).body.syncAggregate;
          return syncCommitteeBits.getTrueBitIndexes().length === SYNC_COMMITTEE_SIZE;
        })
        .map(({ message }) => message.slot);
      expect(withFullSyncCommittee).toEqual(slots);

      // Every validator attests once in each of four epochs. The committees in the first slot of the fifth epoch attest
      // as well.
      const inFullEpochs = api.attestations.filter(({ data }) => data.target.epoch < 4);
      expect(inFullEpochs.length).toBe(4 * keys.count);
      const singles = api.attestations.filter(isElectraSingleAttestation);
      expect(Math.min(...singles.map(({ data }) => data.slot))).toBe(SLOTS_PER_EPOCH);
      expect(singles.every(({ data }) => data.index === 0)).toBe(true);

      for (const method of [
        "submitPoolAttestationsV2",
        "publishAggregateAndProofsV2",
        "submitPoolSyncCommitteeSignatures",
        "publishContributionAndProofs",
      ] as const) {
        expect(callsOf(method), method).toBe(lastSlot + 1);
      }
      expect(callsOf("getProposerDuties")).toBe(5);
      // The next epoch's duties are fetched early, for subscriptions.
      expect(callsOf("getAttesterDuties")).toBe(6);
      expect(callsOf("prepareBeaconCommitteeSubnet")).toBe(6);
      expect(callsOf("prepareSyncCommitteeSubnets")).toBe(6);
    });
  }

  it("do all duties in order, without waiting", async () => {
    const { api, validators } = setUp(fuluFromGenesis, { speed: 100 });
    await validators.onSlot(1);
    expect(api.calls).toEqual([
      "getProposerDuties",
      "produceBlockV3",
      "publishBlockV2",
      "getAttesterDuties",
      "produceAttestationData",
      "submitPoolAttestationsV2",
      "getSyncCommitteeDuties",
      "getBlockRoot",
      "submitPoolSyncCommitteeSignatures",
      "getAggregatedAttestationV2",
      "getAggregatedAttestationV2",
      "publishAggregateAndProofsV2",
      ...Array(SYNC_COMMITTEE_SUBNET_COUNT).fill("produceSyncCommitteeContribution"),
      "publishContributionAndProofs",
      "prepareBeaconCommitteeSubnet",
      "prepareSyncCommitteeSubnets",
      "getAttesterDuties",
      "prepareBeaconCommitteeSubnet",
      "getSyncCommitteeDuties",
      "prepareSyncCommitteeSubnets",
    ]);
    expect(api.aggregates.length).toBe(2);
    expect(api.contributions.length).toBe(SYNC_COMMITTEE_SUBNET_COUNT);
  });

  it("subscribe to each committee once, up to the end of the next epoch", async () => {
    const { api, validators } = setUp(fuluFromGenesis);
    await validators.onSlot(5, "lockstep");
    await validators.onSlot(6, "lockstep");
    // Two committees per slot, in the remaining slots of this epoch and all slots of the next.
    const expected = Array.from({ length: 2 * SLOTS_PER_EPOCH - 5 }, (_, i) => [5 + i, 5 + i]).flat();
    expect(api.committeeSubscriptions.map(({ slot }) => slot).sort((a, b) => a - b)).toEqual(expected);
    expect(
      new Set(api.committeeSubscriptions.map(({ slot, committeeIndex }) => `${slot}/${committeeIndex}`)).size,
    ).toBe(expected.length);
    // In a committee of four, every member is an aggregator.
    expect(api.committeeSubscriptions.every(({ isAggregator }) => isAggregator)).toBe(true);
    const seats = api.syncSubscriptions.flatMap(({ syncCommitteeIndices }) => syncCommitteeIndices);
    expect(new Set(seats).size).toBe(SYNC_COMMITTEE_SIZE);
    expect(new Set(api.syncSubscriptions.map(({ untilEpoch }) => untilEpoch))).toEqual(
      new Set([EPOCHS_PER_SYNC_COMMITTEE_PERIOD]),
    );
  });

  it("attest to genesis but do not propose it", async () => {
    const { api, validators } = setUp([]);
    await validators.onSlot(0, "lockstep");
    expect(api.calls).not.toContain("produceBlockV3");
    expect(api.attestations.length).toBe(8);
    expect(toRootHex(api.attestations[0]!.data.beaconBlockRoot)).toBe(toRootHex(api.chain.headRoot));
  });

  it("sign nothing twice when a slot is run twice", async () => {
    const { api, validators, failedDuties } = setUp([]);
    await validators.onSlot(1, "lockstep");
    api.chain.head = api.chain.stateAt(1);
    await validators.onSlot(1, "lockstep");
    expect(api.chain.blocks.length).toBe(1);
    expect(api.attestations.length).toBe(8);
    expect(failedDuties()).toEqual(["block proposal"]);
  });

  it("sign nothing twice after a restart, and nothing if slashing protection cannot be stored", async () => {
    const { api, clock, config, keys } = setUp([]);
    const logger = createRecordingLogger();
    let stored: SigningRecord[] = [];
    let isFull = true;
    const store = {
      load: async () => stored,
      save: async (signed: readonly SigningRecord[]) => {
        if (isFull) throw new Error("The disk is full.");
        stored = structuredClone([...signed]);
      },
      addTo: () => expect.unreachable("Validators on the API path do not write batches."),
    };
    const restarted = async () => {
      const history = await SlashingProtection.open(store);
      return createDevValidators({ api, clock, config, keys, logger, history });
    };
    await (await restarted()).onSlot(1, "lockstep");
    expect(api.calls).not.toContain("publishBlockV2");
    expect(api.attestations).toEqual([]);

    isFull = false;
    await (await restarted()).onSlot(1, "lockstep");
    expect(api.chain.blocks.length).toBe(1);
    expect(api.attestations.length).toBe(8);

    api.chain.head = api.chain.stateAt(1);
    await (await restarted()).onSlot(1, "lockstep");
    expect(api.chain.blocks.length).toBe(1);
    expect(api.attestations.length).toBe(8);
  });

  it("act only for their own keys", async () => {
    const { api, clock, config, keys } = setUp([]);
    const ours = {
      indices: [3, 4],
      secretKey: (index: number) => ([3, 4].includes(index) ? keys.secretKey(index) : undefined),
    };
    const logger = createRecordingLogger();
    const validators = createDevValidators({ api, clock, config, keys: ours, logger });
    for (let slot = 0; slot < SLOTS_PER_EPOCH; slot++) await validators.onSlot(slot, "lockstep");
    expect(logger.records.filter(({ level }) => level === "warn")).toEqual([]);
    expect(api.attestations.length).toBe(2);
    expect(api.chain.blocks.every(({ message }) => [3, 4].includes(message.proposerIndex))).toBe(true);
  });
});

describe("dev validators whose node has a builder", () => {
  it("register each epoch with the same signed registrations", async () => {
    const { api, validators, warnings, callsOf, keys } = setUp(fuluFromGenesis, { hasBuilder: true });
    for (let slot = 1; slot <= SLOTS_PER_EPOCH; slot++) await validators.onSlot(slot, "lockstep");
    expect(warnings()).toEqual([]);
    expect(callsOf("registerValidator")).toBe(2);
    expect(api.registrations.length).toBe(2 * keys.count);
    expect(api.registrations.at(-1)).toBe(api.registrations[keys.count - 1]);
  });

  it("sign a blinded block", async () => {
    const { api, config, validators, warnings } = setUp(fuluFromGenesis);
    const { produceBlockV3 } = api.validator;
    api.validator.produceBlockV3 = async (request) => {
      const { data, meta } = await produceBlockV3(request);
      const block = (data as BlockContents<ForkName.fulu>).block;
      return { data: beaconBlockToBlinded(config, block), meta: { ...meta, executionPayloadBlinded: true } };
    };
    const published: SignedBlindedBeaconBlock[] = [];
    api.beacon.publishBlindedBlockV2 = async ({ signedBlindedBlock }) => {
      published.push(signedBlindedBlock);
      return { status: 202 };
    };
    await validators.onSlot(1, "lockstep");
    expect(warnings()).toEqual([]);
    const [{ message, signature }] = published as [SignedBlindedBeaconBlock];
    const set = getBlockProposerSignatureSet(config, { message, signature });
    const pubkey = PublicKey.fromBytes(api.chain.head.validators.getReadonly(message.proposerIndex).pubkey);
    expect(verify(set.signingRoot, pubkey, Signature.fromBytes(signature))).toBe(true);
  });
});

describe("dev validators with offline members", () => {
  it("skip offline members until they are online", async () => {
    const even = new Set(Array.from({ length: 32 }, (_, i) => 2 * i));
    let plan: DutyPlan = { online: even };
    const { api, validators, warnings, keys } = setUp(fuluFromGenesis, { hasBuilder: true, plan: () => plan });
    await validators.onSlot(1, "lockstep");
    const subscribed = () =>
      [...api.committeeSubscriptions, ...api.syncSubscriptions].map(({ validatorIndex }) => validatorIndex);
    const attesters = () =>
      api.attestations.filter(isElectraSingleAttestation).map(({ attesterIndex }) => attesterIndex);
    expect([...subscribed(), ...attesters()].filter((index) => !even.has(index))).toEqual([]);
    expect(subscribed().length).toBeGreaterThan(0);
    expect(attesters().length).toBeGreaterThan(0);
    expect(api.registrations.length).toBe(even.size);

    plan = {};
    await validators.onSlot(2, "lockstep");
    expect(subscribed().some((index) => !even.has(index))).toBe(true);
    await validators.onSlot(SLOTS_PER_EPOCH, "lockstep");
    expect(api.registrations.length).toBe(even.size + keys.count);
    expect(warnings()).toEqual([]);
  });
});

describe("dev validators whose node fails", () => {
  it("attest if block production fails", async () => {
    const { api, validators, warnings } = setUp(fuluFromGenesis);
    const failure = new Error("The execution engine is offline.");
    api.validator.produceBlockV3 = () => Promise.reject(failure);
    await validators.onSlot(1, "lockstep");
    expect(warnings()).toEqual([
      {
        level: "warn",
        message: "Validator duty failed",
        fields: { duty: "block proposal", slot: 1, error: failure },
      },
    ]);
    expect(api.attestations.length).toBe(8);
    expect(api.contributions.length).toBe(SYNC_COMMITTEE_SUBNET_COUNT);
  });

  it("do sync committee duties if attestation data is unavailable", async () => {
    const { api, validators, failedDuties } = setUp(fuluFromGenesis);
    api.validator.produceAttestationData = () => Promise.reject(new Error("The head is unknown."));
    await validators.onSlot(1, "lockstep");
    expect(failedDuties()).toEqual(["attestation data"]);
    expect(api.chain.blocks.length).toBe(1);
    expect(api.contributions.length).toBe(SYNC_COMMITTEE_SUBNET_COUNT);
  });

  it("publish the other aggregates if one fails", async () => {
    const { api, validators, failedDuties } = setUp([]);
    const { getAggregatedAttestationV2 } = api.validator;
    api.validator.getAggregatedAttestationV2 = (args) => {
      if (args.committeeIndex === 0) return Promise.reject(new Error("There is no aggregate."));
      return getAggregatedAttestationV2(args);
    };
    await validators.onSlot(1, "lockstep");
    expect(api.aggregates.map(({ message }) => message.aggregate.data.index)).toEqual([1]);
    expect(failedDuties()).toEqual(["attestation aggregation"]);
  });

  it("aggregate and contribute if some of a batch are rejected", async () => {
    const { api, validators, failedDuties } = setUp(fuluFromGenesis);
    const { submitPoolAttestationsV2, submitPoolSyncCommitteeSignatures } = api.beacon;
    api.beacon.submitPoolAttestationsV2 = async (args) => {
      await submitPoolAttestationsV2(args);
      throw new Error("Some attestations were rejected.");
    };
    api.beacon.submitPoolSyncCommitteeSignatures = async (args) => {
      await submitPoolSyncCommitteeSignatures(args);
      throw new Error("Some messages were rejected.");
    };
    await validators.onSlot(1, "lockstep");
    expect(failedDuties()).toEqual(["attestation submission", "sync committee messages"]);
    expect(api.aggregates.length).toBe(2);
    expect(api.contributions.length).toBe(SYNC_COMMITTEE_SUBNET_COUNT);
  });

  it("log the first failure and the recovery of a duty that fails in consecutive slots", async () => {
    const { api, validators, logger } = setUp(fuluFromGenesis);
    const { produceBlockV3 } = api.validator;
    const logged: string[][] = [];
    const act = async (slot: number) => {
      logger.records.length = 0;
      await validators.onSlot(slot, "lockstep");
      logged.push(logger.records.filter(({ level }) => level !== "debug").map(({ message }) => message));
    };
    api.validator.produceBlockV3 = () => Promise.reject(new Error("The execution engine is offline."));
    for (const slot of [1, 2, 3]) await act(slot);
    api.validator.produceBlockV3 = produceBlockV3;
    // A block that was only broadcast is inconclusive.
    const { publishBlockV2 } = api.beacon;
    api.beacon.publishBlockV2 = async () => ({ status: 202 });
    await act(4);
    api.beacon.publishBlockV2 = publishBlockV2;
    for (const slot of [5, 6]) await act(slot);
    expect(logged).toEqual([["Validator duty failed"], [], [], [], ["Validator duty recovered"], []]);
  });

  it("retry fetching duties in the next slot", async () => {
    const { api, validators } = setUp([]);
    const { getAttesterDuties } = api.validator;
    api.validator.getAttesterDuties = () => Promise.reject(new Error("The node is starting."));
    await validators.onSlot(1, "lockstep");
    expect(api.attestations.length).toBe(0);
    api.validator.getAttesterDuties = getAttesterDuties;
    await validators.onSlot(2, "lockstep");
    expect(api.attestations.length).toBe(8);
  });
});

describe("dev validators with clock timing", () => {
  const startOf = (slot: number) => genesisTime + slot * slotSeconds;

  it("attest as soon as their own block is published and aggregate at two thirds of the slot", async () => {
    const { api, clock, validators } = setUp(fuluFromGenesis);
    clock.advanceTo(startOf(1));
    const slot = validators.onSlot(1);
    await clock.untilAwaited(startOf(1) + aggregateSeconds);
    expect(api.chain.blocks.length).toBe(1);
    expect(api.attestations.length).toBe(8);
    expect(api.syncMessages.length).toBeGreaterThan(0);
    expect(api.aggregates.length).toBe(0);
    clock.advanceTo(startOf(1) + aggregateSeconds);
    await slot;
    expect(api.aggregates.length).toBe(2);
    expect(api.contributions.length).toBe(SYNC_COMMITTEE_SUBNET_COUNT);
  });

  it("attest at a third of the slot without a block", async () => {
    const { api, clock, validators } = setUp(fuluFromGenesis);
    api.validator.produceBlockV3 = () => Promise.reject(new Error("The execution engine is offline."));
    clock.advanceTo(startOf(1));
    const slot = validators.onSlot(1);
    await clock.untilAwaited(startOf(1) + attestationSeconds);
    expect(api.attestations.length).toBe(0);
    clock.advanceTo(startOf(1) + attestationSeconds);
    await clock.untilAwaited(startOf(1) + aggregateSeconds);
    expect(api.attestations.length).toBe(8);
    clock.advanceTo(startOf(2));
    await slot;
  });

  it("attest as soon as a block of another node is the head", async () => {
    const { api, clock, validators } = setUp(fuluFromGenesis);
    api.validator.produceBlockV3 = () => Promise.reject(new Error("Another node proposes."));
    clock.advanceTo(startOf(1));
    const slot = validators.onSlot(1);
    await clock.untilAwaited(startOf(1) + attestationSeconds);
    const root = toRootHex(api.chain.headRoot);
    validators.onHead({ slot: 1, root, previousDutyDependentRoot: root, currentDutyDependentRoot: root });
    await clock.untilAwaited(startOf(1) + aggregateSeconds);
    expect(api.attestations.length).toBe(8);
    clock.advanceTo(startOf(2));
    await slot;
  });

  it("cancel waiting duties when closed, and do nothing afterwards", async () => {
    const { api, clock, validators, warnings } = setUp(fuluFromGenesis);
    clock.advanceTo(startOf(1));
    const slot = validators.onSlot(1);
    await clock.untilAwaited(startOf(1) + aggregateSeconds);
    await validators.close();
    await slot;
    expect(api.aggregates.length).toBe(0);
    const callsBefore = api.calls.length;
    await validators.onSlot(2);
    expect(api.calls.length).toBe(callsBefore);
    expect(warnings()).toEqual([]);
  });
});
