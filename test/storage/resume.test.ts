import { DOMAIN_VOLUNTARY_EXIT, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type phase0, ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import type { DevChain } from "../../src/dev/dev-chain.ts";
import { DEV_FORKS } from "../../src/dev/forks.ts";
import { Caller } from "../support/api/caller.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { advance, openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { variants } from "../support/suite/tier.ts";

function standing({ chain, clock }: DevChain) {
  const { head, forkChoice } = chain;
  const { finalized } = forkChoice;
  return {
    slot: clock.currentSlot,
    time: clock.nowSeconds(),
    head,
    justified: forkChoice.justified,
    finalized,
    // Fork choice keeps finalized blocks until they are archived.
    blocks: [...forkChoice.all()]
      .map(({ root }) => root)
      .filter((root) => forkChoice.isDescendant(finalized.root, root)),
    genesis: chain.genesis,
  };
}

/** The time within the slot is not stored: the slot starts again. */
const withoutTime = ({ time: _, ...rest }: ReturnType<typeof standing>) => rest;

/** Cached roots do not make values different. */
const exitToJson = (exit: phase0.SignedVoluntaryExit) => ssz.phase0.SignedVoluntaryExit.toJson(exit);

it.each(variants({ fast: ["fulu"], full: ["phase0"] } as const))(
  "a dev chain of %s continues where it was closed",
  async (fork) => {
    const directory = tempDirectory();
    const forks = fork === "phase0" ? [] : [{ fork, epoch: 0 }];
    const first = await openDevChain({ forks }, directory);
    await advance(first.devChain, 4 * SLOTS_PER_EPOCH + 3);
    const before = standing(first.devChain);
    expect(before.finalized.epoch).toBe(2);
    await first.close();

    const { devChain, complaints } = await openDevChain({ forks }, directory);
    expect(withoutTime(standing(devChain))).toEqual(withoutTime(before));
    await advance(devChain, 6 * SLOTS_PER_EPOCH);

    expect(devChain.chain.head.slot).toBe(6 * SLOTS_PER_EPOCH);
    expect(devChain.chain.forkChoice.finalized.epoch).toBe(4);
    expect(complaints).toEqual([]);
  },
);

it("a crashed chain restores every block and continues to finalize", async () => {
  const directory = tempDirectory();
  const first = await openDevChain({}, directory);
  await advance(first.devChain, 4 * SLOTS_PER_EPOCH + 3);
  const before = standing(first.devChain);
  await first.abandon();

  const { devChain, complaints } = await openDevChain({}, directory);
  expect(withoutTime(standing(devChain))).toEqual(withoutTime(before));
  await advance(devChain, 7 * SLOTS_PER_EPOCH);

  expect(devChain.chain.head.slot).toBe(7 * SLOTS_PER_EPOCH);
  expect(devChain.chain.forkChoice.finalized.epoch).toBe(5);
  expect(complaints).toEqual([]);
});

it("a chain survives stops at every slot of an epoch and across every fork", async () => {
  const directory = tempDirectory();
  const forks = DEV_FORKS.slice(1).map((fork, i) => ({ fork, epoch: i + 1 }));
  const stops = Array.from({ length: 9 }, (_, i) => (i + 1) * SLOTS_PER_EPOCH + i - 1);
  let finalizedEpoch = 0;
  for (const slot of stops) {
    const { devChain, close, complaints } = await openDevChain({ forks }, directory);
    await advance(devChain, slot);
    expect(complaints).toEqual([]);
    expect(devChain.chain.head.slot).toBe(slot);
    finalizedEpoch = devChain.chain.forkChoice.finalized.epoch;
    await close();
  }
  expect(finalizedEpoch).toBe(Math.floor(stops.at(-1)! / SLOTS_PER_EPOCH) - 2);
});

it("a chain before its first slot can be closed and reopened", async () => {
  const directory = tempDirectory();
  const first = await openDevChain({}, directory);
  const before = standing(first.devChain);
  await first.close();

  const { devChain } = await openDevChain({}, directory);
  expect(standing(devChain)).toEqual(before);
  await devChain.clock.advanceTo(1);
  expect(devChain.chain.head.slot).toBe(1);
});

it("the clock continues at its slot, even if the last slots were empty", async () => {
  const directory = tempDirectory();
  const first = await openDevChain({}, directory);
  await first.devChain.clock.advanceTo(SLOTS_PER_EPOCH);
  await first.close();
  const second = await openDevChain(QUIET, directory);
  await second.devChain.clock.advanceTo(2 * SLOTS_PER_EPOCH + 2);
  await second.close();

  const { devChain, complaints } = await openDevChain({}, directory);
  expect(devChain.clock.currentSlot).toBe(2 * SLOTS_PER_EPOCH + 2);
  expect(devChain.chain.head.slot).toBe(SLOTS_PER_EPOCH);
  await advance(devChain, 6 * SLOTS_PER_EPOCH);
  expect(devChain.chain.forkChoice.finalized.epoch).toBe(4);
  expect(complaints).toEqual([]);
});

it("a finalized operation is no longer pending, also after a crash", async () => {
  const directory = tempDirectory();
  const settings = { configOverrides: { SHARD_COMMITTEE_PERIOD: "0" } };
  const first = await openDevChain(settings, directory);
  await advance(first.devChain, 3 * SLOTS_PER_EPOCH);
  await new Caller(first.devChain.api).call("dev_exit", [3]);
  await advance(first.devChain, 8 * SLOTS_PER_EPOCH - 1);
  expect(first.devChain.chain.pools.operations.listVoluntaryExits()).toEqual([]);
  await first.abandon();

  const { devChain } = await openDevChain(settings, directory);
  expect(devChain.chain.pools.operations.listVoluntaryExits()).toEqual([]);
});

it("outdated stored votes cause no warning after a crash", async () => {
  const directory = tempDirectory();
  const first = await openDevChain({}, directory);
  await advance(first.devChain, 4 * SLOTS_PER_EPOCH + 3);
  await first.close();
  const second = await openDevChain({}, directory);
  await advance(second.devChain, 7 * SLOTS_PER_EPOCH + 3);
  await second.abandon();
  const { devChain, complaints } = await openDevChain({}, directory);
  expect(devChain.chain.head.slot).toBe(7 * SLOTS_PER_EPOCH + 3);
  expect(complaints).toEqual([]);
});

it("a pending operation is still pending after a restart", async () => {
  const directory = tempDirectory();
  const first = await openDevChain({}, directory);
  await advance(first.devChain, first.devChain.config.SHARD_COMMITTEE_PERIOD * SLOTS_PER_EPOCH);
  const { signer } = new ByHand(first.devChain);
  const message = { epoch: 0, validatorIndex: 3 };
  const signature = signer.sign(3, signer.signingRoot(ssz.phase0.VoluntaryExit, message, DOMAIN_VOLUNTARY_EXIT, 0));
  await first.devChain.api.beacon.submitPoolVoluntaryExit({ signedVoluntaryExit: { message, signature } });
  await first.close();

  const { devChain } = await openDevChain({}, directory);
  const { operations } = devChain.chain.pools;
  expect(operations.listVoluntaryExits().map(exitToJson)).toEqual([exitToJson({ message, signature })]);
  await devChain.clock.advanceTo(devChain.clock.currentSlot + 1);
  const block = await devChain.chain.blocks.byRoot(devChain.chain.head.root);
  expect(block?.signed.message.body.voluntaryExits.map(exitToJson)).toEqual([exitToJson({ message, signature })]);
});
