import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Attestation, altair, ValidatorIndex } from "@lodestar/types";
import { toPubkeyHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import type { MonitorSelection } from "../../src/chain/monitor/monitored-validators.ts";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import { InteropKeys } from "../../src/dev/interop-keys.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { createRecordingLogger, type LogRecord } from "../support/log/recording-logger.ts";
import { variants } from "../support/suite/tier.ts";

const VALIDATORS = 16;
const ELECTRA: ScheduledFork[] = [{ fork: "electra", epoch: 0 }];
const indices = (count: number): MonitorSelection => ({
  indices: Array.from({ length: count }, (_, index) => index),
  pubkeys: [],
});

/** A monitored chain whose clock the test advances. */
async function openMonitored(monitorValidators: MonitorSelection, options: Partial<DevNodeOptions> = {}) {
  const logger = createRecordingLogger();
  const opened = await openDevChain({
    validators: VALIDATORS,
    forks: ELECTRA,
    speed: 0,
    monitorValidators,
    logger,
    ...options,
  });
  const { devChain, node } = opened;
  await devChain.run();
  const { control } = devChain;
  return {
    ...opened,
    control,
    monitor: node.monitor!,
    /** Advances to the first slot of an epoch, when the epoch two before it is reviewed. */
    toEpoch: (epoch: number) => control.time.advance({ slots: epoch * SLOTS_PER_EPOCH - devChain.clock.currentSlot }),
    lines: (message: string): LogRecord[] => logger.records.filter((record) => record.message === message),
  };
}

/** Computes the expected counts from the canonical chain, independently of the monitor. */
async function countOnChain(
  { chain, config }: DevChain,
  epochs: number,
  isMonitored: (index: ValidatorIndex) => boolean,
) {
  const distances = new Map<string, number>();
  const counts = { due: 0, proposed: 0, syncIncluded: 0, syncMissed: 0 };
  const { epochCtx } = (await chain.states.genesis())!;
  for (let index = 0; index < VALIDATORS; index++) if (isMonitored(index)) counts.due += epochs;
  // There are no votes in the genesis slot.
  counts.due -= epochCtx
    .getBeaconCommittees(0, [0])
    .flatMap((each) => [...each])
    .filter(isMonitored).length;
  for (let slot = 1; slot < (epochs + 1) * SLOTS_PER_EPOCH; slot++) {
    const block = await chain.blocks.canonicalAtSlot(slot);
    if (block === null) continue;
    const { message } = block.signed;
    const state = await chain.states.afterBlock(block.root);
    for (const attestation of message.body.attestations as Attestation[]) {
      const { slot: voted, target } = attestation.data;
      if (target.epoch >= epochs) continue;
      const fork = config.getForkSeq(voted);
      for (const voter of state.epochCtx.getAttestingIndices(fork, attestation).filter(isMonitored)) {
        const key = `${target.epoch} ${voter}`;
        distances.set(key, Math.min(distances.get(key) ?? Number.POSITIVE_INFINITY, slot - voted));
      }
    }
    if (computeEpochAtSlot(slot) >= epochs) continue;
    if (isMonitored(message.proposerIndex)) counts.proposed++;
    if (!("syncAggregate" in message.body)) continue;
    const { syncCommitteeBits } = (message.body as altair.BeaconBlockBody).syncAggregate;
    for (const [position, member] of state.epochCtx.currentSyncCommitteeIndexed.validatorIndices.entries()) {
      if (isMonitored(member)) counts[syncCommitteeBits.get(position) ? "syncIncluded" : "syncMissed"]++;
    }
  }
  return {
    ...counts,
    included: distances.size,
    distance: [...distances.values()].reduce((sum, each) => sum + each, 0),
  };
}

const FORKS = variants<[name: string, forks: ScheduledFork[]]>({
  fast: [["electra", ELECTRA]],
  full: [
    ["phase0", []],
    ["altair from epoch 2 on", [{ fork: "altair", epoch: 2 }]],
  ],
});

describe.each(FORKS)("in %s", (_, forks) => {
  it("counts duties on the canonical chain, and logs one summary per epoch", async () => {
    const epochs = 4;
    const { devChain, monitor, toEpoch, lines, complaints } = await openMonitored(indices(5), { forks });
    await toEpoch(epochs + 1);
    const { total } = monitor;
    const expected = await countOnChain(devChain, epochs, (index) => index < 5);
    expect(total).toMatchObject({
      attestations: { included: expected.included, missed: 0 },
      attestationsSeen: expected.due,
      inclusionDistance: expected.distance,
      proposals: { included: expected.proposed, missed: 0 },
      syncSignatures: { included: expected.syncIncluded, missed: expected.syncMissed },
      slashed: 0,
    });
    expect(expected.included).toBe(expected.due);
    expect(total.correctVotes).toEqual({ source: expected.due, target: expected.due, head: expected.due });
    expect(monitor.reviewedEpoch).toBe(epochs - 1);
    expect([...monitor.single.keys()]).toEqual([0, 1, 2, 3, 4]);
    expect([...monitor.single.values()].reduce((sum, { balance }) => sum + balance, 0)).toBe(total.balance);
    expect(total.reward).toBeGreaterThan(0);

    const summaries = lines("Validator summary");
    expect(summaries.map(({ fields }) => fields!.epoch)).toEqual([0, 1, 2, 3]);
    expect(summaries.at(-1)).toMatchObject({
      level: "info",
      fields: { validators: 5, included: "5/5", missed: 0, distance: "1.00", target: "5/5", head: "5/5" },
    });
    expect(summaries[0]!.fields!.changeGwei).toBeUndefined();
    expect(complaints).toEqual([]);
  });
});

it("adds withdrawals back to the rewards", async () => {
  const { devChain, monitor, toEpoch } = await openMonitored(indices(VALIDATORS), {
    withdrawals: [{ value: { prefix: "0x01" } }],
  });
  await toEpoch(5);
  const { chain } = devChain;
  let withdrawn = 0;
  for (let slot = 1; slot < 4 * SLOTS_PER_EPOCH; slot++) {
    const body = (await chain.blocks.canonicalAtSlot(slot))!.signed.message.body;
    if ("executionPayload" in body && "withdrawals" in body.executionPayload) {
      withdrawn += body.executionPayload.withdrawals.length;
    }
  }
  expect(withdrawn).toBeGreaterThan(0);
  for (const { reward } of monitor.single.values()) expect(reward).toBeGreaterThan(0);
});

it("counts votes on payloads of gloas", async () => {
  const { devChain, control, monitor, toEpoch, lines } = await openMonitored(indices(VALIDATORS), {
    forks: [{ fork: "gloas", epoch: 1 }],
  });
  const validators = { ranges: [{ first: 3, last: 3 }] };
  const slots = { first: SLOTS_PER_EPOCH, count: 4 * SLOTS_PER_EPOCH };
  await control.payloads.setVotes({ validators, abstains: true }, slots);
  await toEpoch(5);
  const { chain } = devChain;
  const seats = new Map<ValidatorIndex, number>();
  for (let slot = SLOTS_PER_EPOCH; slot < 4 * SLOTS_PER_EPOCH; slot++) {
    const { epochCtx } = await chain.states.afterBlock((await chain.blocks.canonicalAtSlot(slot))!.root);
    for (const member of new Set(epochCtx.getPayloadTimelinessCommittee(slot))) {
      seats.set(member, (seats.get(member) ?? 0) + 1);
    }
  }
  const votes = new Map([...monitor.single].map(([validator, { payloadVotes }]) => [validator, payloadVotes]));
  expect(votes.get(3)).toEqual({ included: 0, missed: seats.get(3) });
  seats.delete(3);
  votes.delete(3);
  for (const [validator, { included, missed }] of votes) {
    expect([validator, included, missed]).toEqual([validator, seats.get(validator) ?? 0, 0]);
  }
  const summary = lines("Validator summary").at(-1)!.fields!.payloadVotes as string;
  const [included, due] = summary.split("/").map(Number);
  expect(included).toBeLessThan(due!);
  expect(lines("Validator summary")[0]!.fields!.payloadVotes).toBeUndefined();
});

it("counts missed duties, and warns of an absent validator once", async () => {
  const { devChain, control, monitor, toEpoch, lines } = await openMonitored(indices(4));
  await control.validators.setOffline({ ranges: [{ first: 2, last: 2 }] });
  await toEpoch(7);
  const epochs = 6;
  const absent = await countOnChain(devChain, epochs, (index) => index === 2);
  const all = await countOnChain(devChain, epochs, (index) => index < 4);
  expect(monitor.single.get(2)).toMatchObject({
    attestations: { included: 0, missed: absent.due },
    attestationsSeen: 0,
  });
  expect(monitor.single.get(2)!.reward).toBeLessThan(0);
  expect(monitor.total.attestations).toEqual({ included: all.due - absent.due, missed: absent.due });
  const warned = lines("Monitored validators missed attestations");
  expect(warned).toMatchObject([{ level: "warn", fields: { epoch: 0, missed: 1, validators: "2" } }]);

  // All other validators are online, so an empty slot is a missed proposal of the absent one.
  const empty: number[] = [];
  for (let slot = 1; slot < epochs * SLOTS_PER_EPOCH; slot++) {
    if ((await devChain.chain.blocks.canonicalAtSlot(slot)) === null) empty.push(slot);
  }
  expect(empty.length).toBeGreaterThan(0);
  expect(monitor.single.get(2)!.proposals).toEqual({ included: 0, missed: empty.length });
  const missed = lines("Monitored validator missed its proposal");
  expect(missed.map(({ level, fields }) => [level, fields!.validator, fields!.slot])).toEqual(
    empty.map((slot) => ["warn", 2, slot]),
  );

  // It returns and goes offline again.
  await control.validators.setOffline({ ranges: [] });
  await toEpoch(10);
  await control.validators.setOffline({ ranges: [{ first: 2, last: 2 }] });
  await toEpoch(13);
  expect(lines("Monitored validators missed attestations")).toHaveLength(2);
});

it("follows the canonical chain through reorgs", async () => {
  const { devChain, control, monitor, toEpoch } = await openMonitored(indices(VALIDATORS));
  await toEpoch(2);
  await control.time.advance({ slots: 3 });
  const { oldHead } = await control.branches.reorg(2);
  await toEpoch(6);
  expect(await devChain.chain.blocks.isCanonical(oldHead.root, oldHead.slot)).toBe(false);
  const expected = await countOnChain(devChain, 5, () => true);
  expect(monitor.total.attestations).toEqual({
    included: expected.included,
    missed: expected.due - expected.included,
  });
  expect(monitor.total.inclusionDistance).toBe(expected.distance);
  expect(expected.distance).toBeGreaterThan(expected.included);
  expect(monitor.total.proposals.included).toBe(expected.proposed);
  expect(monitor.total.proposals.missed).toBeGreaterThan(0);
});

it("warns once about a slashed validator, and logs an exiting one", async () => {
  const { control, monitor, toEpoch, lines } = await openMonitored(indices(4), {
    configOverrides: { SHARD_COMMITTEE_PERIOD: "0" },
  });
  await toEpoch(3);
  await control.operations.slash([1], "attester");
  await control.operations.exit(3);
  await toEpoch(7);
  expect(lines("Monitored validator was slashed")).toMatchObject([{ level: "warn", fields: { validator: 1 } }]);
  expect(lines("Monitored validator is exiting")).toMatchObject([{ level: "info", fields: { validator: 3 } }]);
  expect(monitor.total.slashed).toBe(1);
  expect(monitor.single.get(1)!.slashed).toBe(1);
});

it("waits for unknown validators, by index and by key, and logs it once", async () => {
  const keys = new InteropKeys(VALIDATORS + 1);
  const pubkeys = [5, VALIDATORS].map((index) => toPubkeyHex(keys.publicKey(index)!));
  const { control, monitor, toEpoch, lines } = await openMonitored({ indices: [0, 1000], pubkeys });
  await toEpoch(3);
  expect([...monitor.single.keys()].sort((a, b) => a - b)).toEqual([0, 5]);
  expect(monitor.statusCounts()).toEqual(
    new Map<string, number>([
      ["unknown", 2],
      ["active_ongoing", 2],
    ]),
  );
  const told = lines("Waiting for unknown monitored validators");
  expect(told).toMatchObject([{ level: "notice", fields: { count: 2, validators: `1000 ${pubkeys[1]}` } }]);

  await control.operations.deposit({
    receiver: { newValidators: 1 },
    amount: 32_000_000_000n,
    hasInvalidSignature: false,
    isSubmitted: true,
  });
  await control.time.advance({ slots: 60 * SLOTS_PER_EPOCH, until: () => monitor.single.has(VALIDATORS) });
  expect(lines("Found monitored validator")).toMatchObject([{ fields: { validator: VALIDATORS, pubkey: pubkeys[1] } }]);
  expect(monitor.statusCounts().get("unknown")).toBe(1);
});

it("has no metrics of single validators if there are many", async () => {
  const { devChain, monitor, toEpoch } = await openMonitored(indices(65));
  await toEpoch(3);
  expect(monitor.single.size).toBe(0);
  expect(monitor.total.attestations.included).toBe((await countOnChain(devChain, 2, () => true)).due);
});

it("creates no monitor without a selection", async () => {
  const { node } = await openDevChain();
  expect(node.monitor).toBeUndefined();
});
