import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateAltair } from "@lodestar/state-transition";
import { describe, expect, it } from "vitest";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { Caller } from "../support/api/caller.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const VALIDATORS = 16;

async function open(options: Partial<DevNodeOptions> = {}, directory?: string) {
  const opened = await openDevChain(
    { forks: [{ fork: "fulu", epoch: 0 }], validators: VALIDATORS, speed: 0, ...options },
    directory,
  );
  return { ...opened, caller: new Caller(opened.devChain.api) };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => String(from + i));

describe("validators that are set offline", () => {
  it("prevent finality until they return", async () => {
    const { caller, devChain, complaints } = await open();
    const { chain } = devChain;
    await caller.call("dev_advance", { until: "finalized" });
    const { online, offline } = await caller.call("dev_setValidators", { offline: 0.4 });
    expect([online.length, offline.length]).toEqual([10, 6]);
    const finalBefore = (await caller.call("dev_advance", { epochs: 1 })).finalized_epoch;
    // Seven epochs without finality start an inactivity leak.
    const stalled = await caller.call("dev_advance", { epochs: 7 });
    expect(Number(stalled.finalized_epoch)).toBeLessThanOrEqual(Number(finalBefore) + 1);
    expect(stalled.slot - stalled.finalized_epoch * SLOTS_PER_EPOCH).toBeGreaterThan(6 * SLOTS_PER_EPOCH);

    const state = chain.headState as CachedBeaconStateAltair;
    const positions = (values: readonly number[], isWanted: (value: number) => boolean) =>
      values.flatMap((value, index) => (isWanted(value) ? [String(index)] : []));
    expect(positions(state.previousEpochParticipation.getAll(), (flags) => flags === 0)).toEqual(offline);
    expect(positions(state.inactivityScores.getAll(), (score) => score > 0)).toEqual(offline);
    const balance = async (index: string) =>
      (await caller.call("get_v1_beacon_states_stateId_validators", ["head", [index]]))[0].balance;
    expect(Number(await balance(offline[0]))).toBeLessThan(Number(await balance(online[0])));

    expect((await caller.call("dev_setValidators", { online: "all" })).offline).toEqual([]);
    const back = await caller.call("dev_advance", { until: "finalized", limit: 4 * SLOTS_PER_EPOCH });
    expect(Number(back.finalized_epoch)).toBeGreaterThan(Number(stalled.finalized_epoch));
    expect(complaints).toEqual([]);
  });

  it("are selected by index, range, list and fraction, deterministically", async () => {
    const { caller } = await open();
    const everybody = numbers(0, 15);
    const onlineAfter = async (params: Record<string, unknown>) =>
      (await caller.call("dev_setValidators", params)).online;
    expect(await onlineAfter({ online: "0-3" })).toEqual(numbers(0, 3));
    expect(await onlineAfter({ online: [1, "5", "8-9", "9-10"] })).toEqual(["1", "5", "8", "9", "10"]);
    expect(await onlineAfter({ offline: 7 })).toEqual(everybody.filter((index) => index !== "7"));
    expect(await onlineAfter({ online: 1 })).toEqual(["1"]);
    expect(await onlineAfter({ online: [] })).toEqual([]);
    const half = await onlineAfter({ online: 0.5 });
    expect(half.length).toBe(8);
    expect(await onlineAfter({ online: "none" })).toEqual([]);
    expect(await onlineAfter({ online: 0.5 })).toEqual(half);
    expect(await onlineAfter({ offline: 0.25 })).toHaveLength(12);
    expect(await onlineAfter({ offline: "none" })).toEqual(everybody);
    expect(await caller.call("dev_getValidators")).toEqual({ online: everybody, offline: [] });
  });

  it("leave their slots empty; no slot has a block if all are offline", async () => {
    const { caller, devChain } = await open();
    await caller.call("dev_setValidators", { online: "none" });
    expect(await caller.call("dev_advance", [3])).toMatchObject({ slot: "3", head_slot: "0" });
    const { epochCtx } = await devChain.chain.states.afterBlock(devChain.chain.head.root, 4);
    await caller.call("dev_setValidators", { offline: epochCtx.getBeaconProposer(4) });
    expect(await caller.call("dev_advance")).toMatchObject({ slot: "4", head_slot: "0" });
    await caller.call("dev_setValidators", { online: epochCtx.getBeaconProposer(5) });
    expect(await caller.call("dev_advance")).toMatchObject({ slot: "5", head_slot: "5" });
  });

  it("stay offline over a restart, and those left to clients can be set online", async () => {
    const directory = tempDirectory();
    const first = await open({ activeValidators: [0, 1] }, directory);
    expect((await first.caller.call("dev_getValidators")).online).toEqual(["0", "1"]);
    await first.caller.call("dev_setValidators", { offline: [3, "5-6"] });
    await first.caller.call("dev_advance", [2]);
    await first.close();
    const second = await open({ activeValidators: [0, 1] }, directory);
    expect((await second.caller.call("dev_getValidators")).offline).toEqual(["3", "5", "6"]);
    await second.caller.call("dev_setValidators", { online: "all" });
    await second.caller.call("dev_advance", { until: "finalized", limit: 4 * SLOTS_PER_EPOCH });
    expect([...first.complaints, ...second.complaints]).toEqual([]);
  });

  it("are respected while the clock runs, too", async () => {
    const { caller, devChain } = await open({ speed: 1000, slotSeconds: 6 });
    await caller.call("dev_setValidators", { online: "none" });
    await devChain.run();
    await devChain.clock.untilSlot(3);
    await caller.call("dev_pause");
    expect(devChain.chain.head.slot).toBe(0);
    await caller.call("dev_setValidators", { online: "all" });
    const slot = devChain.clock.currentSlot;
    await caller.call("dev_resume");
    await devChain.clock.untilSlot(slot + 3);
    await caller.call("dev_pause");
    expect(devChain.chain.head.slot).toBeGreaterThan(slot);
  });

  it("are unchanged by invalid calls", async () => {
    const { caller } = await open();
    const before = await caller.call("dev_setValidators", { offline: [2] });
    const wrong: [Record<string, unknown>, number, RegExp][] = [
      [{}, -32602, /online or offline is missing/],
      [{ online: "all", offline: "none" }, -32602, /online and offline are mutually exclusive/],
      [{ online: "some" }, -32602, /"online" must be "all" or "none"; a validator index/],
      [{ online: 1.5 }, -32602, /"online" must be/],
      [{ online: -1 }, -32602, /"online" must be/],
      [{ offline: "5-3" }, -32602, /"offline" must be/],
      [{ offline: [[1]] }, -32602, /"offline" must be/],
      [{ online: 16 }, -32001, /The key of validator 16 is unknown\. This chain has keys of 16 validators, up to 15/],
      [{ online: "0-99999999999" }, -32001, /The key of validator 16 is unknown/],
      [{ online: ["18446744073709551615"] }, -32001, /The key of validator 18446744073709551615 is unknown/],
    ];
    for (const [params, code, message] of wrong) {
      expect(await caller.error("dev_setValidators", params), JSON.stringify(params)).toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
    }
    expect(await caller.call("dev_getValidators")).toEqual(before);
  });
});
