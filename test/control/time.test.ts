import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { describe, expect, it } from "vitest";
import { Caller } from "../support/api/caller.ts";
import { type OpenedDevChain, openDevChain } from "../support/chain/dev-chain.ts";

type Position = Record<"slot" | "epoch" | "head_slot" | "justified_epoch" | "finalized_epoch", string> & {
  speed: number;
};

async function open(options: Parameters<typeof openDevChain>[0] = {}): Promise<OpenedDevChain & { caller: Caller }> {
  const opened = await openDevChain({ forks: [{ fork: "fulu", epoch: 0 }], speed: 0, ...options });
  return { ...opened, caller: new Caller(opened.devChain.api) };
}

const slotOf = async (caller: Caller) => Number(((await caller.call("getChainTime")) as { slot: string }).slot);

describe("advanced time", () => {
  it("passes by slots, by epochs, and until a condition holds, with a block in every slot", async () => {
    const { caller, devChain, complaints } = await open();
    await devChain.run();
    expect(await caller.call("dev_advance")).toMatchObject({ slot: "1", head_slot: "1", speed: 0 });
    expect(await caller.call("dev_advance", [4])).toMatchObject({ slot: "5", head_slot: "5" });
    expect(await caller.call("dev_advance", { epochs: 1 })).toMatchObject({ slot: String(5 + SLOTS_PER_EPOCH) });
    expect(await caller.call("dev_advance", { until: { epoch: "2" } })).toMatchObject({ slot: "16", epoch: "2" });
    expect(await caller.call("dev_advance", { until: { slot: 20 } })).toMatchObject({ slot: "20", head_slot: "20" });

    const final = (await caller.call("dev_advance", { until: "finalized" })) as Position;
    expect(Number(final.finalized_epoch)).toBeGreaterThan(0);
    const next = (await caller.call("dev_advance", { until: "finalized" })) as Position;
    expect(Number(next.finalized_epoch)).toBe(Number(final.finalized_epoch) + 1);
    expect(Number(next.slot)).toBe(Number(final.slot) + SLOTS_PER_EPOCH);
    // A condition that already holds takes no time.
    expect(await caller.call("dev_advance", { until: { finalized: 1 } })).toEqual(next);
    expect(complaints).toEqual([]);
  });

  it.each<[until: unknown, actual: string]>([
    [{ validator: 3, status: "exited_unslashed" }, "validator 3 is active_ongoing, not exited_unslashed"],
    ["finalized", "the finalized epoch is still 0"],
    ["justified", "the justified epoch is still 0"],
    [{ finalized: 5 }, "the finalized epoch is 0, not 5"],
    [{ epoch: "4" }, "the epoch is 0, not 4"],
    [{ slot: 100 }, "the slot is 2, not 100"],
  ])("fails if the condition is not reached: %j", async (until, actual) => {
    const { caller } = await open();
    expect(await caller.error("dev_advance", { until, limit: 2 })).toMatchObject({
      code: -32005,
      message: `The condition does not hold after 2 slots, at slot 2: ${actual}.`,
    });
    expect(await slotOf(caller)).toBe(2);
  });

  it.each([{ slot: "18446744073709551615" }, { epoch: 8193 }, { finalized: 9000 }])(
    "fails at once if no call runs as many slots: %j",
    async (until) => {
      const { caller } = await open();
      expect(await caller.error("dev_advance", { until })).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/^One call runs at most 65536 slots, but this one needs/),
      });
      expect(await slotOf(caller)).toBe(0);
    },
  );

  it("fails without a new block", async () => {
    const { caller } = await open();
    await caller.call("dev_advance");
    await caller.call("dev_setValidators", { offline: "all" });
    expect(await caller.error("dev_advance", { until: "block", limit: 2 })).toMatchObject({
      message: "The condition does not hold after 2 slots, at slot 3: the head is still the block of slot 1.",
    });
  });

  it("leaves slots empty", async () => {
    const { caller, complaints } = await open();
    await caller.call("dev_advance", [2]);
    expect(await caller.call("dev_skip", [3])).toMatchObject({ slot: "5", head_slot: "2" });
    expect(await caller.call("dev_skip", { epochs: 40 })).toMatchObject({ slot: "325", head_slot: "2" });
    expect(await caller.call("dev_advance")).toMatchObject({ slot: "326", head_slot: "326" });
    expect(complaints).toEqual([]);
  });

  it("rejects invalid calls without an effect", async () => {
    const { caller } = await open();
    const wrong: [string, unknown[] | Record<string, unknown>, RegExp][] = [
      ["dev_advance", { slots: 1, epochs: 1 }, /slots and epochs are mutually exclusive/],
      ["dev_advance", { slots: 1, until: "finalized" }, /slots and until are mutually exclusive/],
      ["dev_advance", { limit: 1 }, /limit requires until/],
      ["dev_advance", [-1], /"slots" must be a number of slots from 0 to 65536/],
      ["dev_advance", [65_537], /from 0 to 65536/],
      ["dev_advance", { until: "soon" }, /"until" must be "block", for/],
      ["dev_advance", { until: { validator: 1 } }, /"until" must be/],
      ["dev_advance", { until: { validator: 1, status: "rich" } }, /"rich" is not a status\.$/],
      [
        "dev_advance",
        { until: { validator: 1, status: "active" } },
        /"active" is not a status\. Did you mean "active_ongoing"\?$/,
      ],
      [
        "dev_advance",
        { until: { validator: "0x11", status: "active_ongoing" } },
        /"0x11" is not a validator\. Validator indices are decimal; did you mean 17\? A public key has 0x and 96 hex digits/,
      ],
      ["dev_advance", { until: "finalised" }, /Did you mean "finalized"\?$/],
      ["dev_advance", { until: { epoch: 1, slot: 2 } }, /"until" must be/],
      ["dev_skip", { slots: 1, epochs: 1 }, /are mutually exclusive/],
      ["dev_setSpeed", [], /speed/],
      ["dev_setSpeed", [-1], /"speed" must be a number from 0 to 1000000/],
      ["dev_setSpeed", ["2"], /"speed" must be a number/],
    ];
    for (const [name, params, message] of wrong) {
      expect(await caller.error(name, params), JSON.stringify(params)).toMatchObject({
        code: -32602,
        message: expect.stringMatching(message),
      });
    }
    // After this many epochs without votes all validators could be ejected.
    expect(await caller.error("dev_skip", { epochs: 2049 })).toMatchObject({
      code: -32003,
      message: expect.stringMatching(/^At most 16384 more slots can be skipped/),
    });
    const unknown = { until: { validator: 99, status: "exited_unslashed" } };
    expect(await caller.error("dev_advance", unknown)).toMatchObject({ code: -32001 });
    expect(await slotOf(caller)).toBe(0);
  });
});

describe("advanced time until the status of a deposited key", () => {
  const UNKNOWN = `0x${"11".repeat(48)}`;
  const untilActive = (pubkey: string) => ({ until: { validator: pubkey, status: "active_ongoing" } });

  it("says whether the deposit is pending", async () => {
    const { caller } = await open();
    const [{ data }] = (await caller.call("dev_deposit")) as [{ data: { pubkey: string } }];
    expect(await caller.error("dev_advance", { ...untilActive(data.pubkey), limit: 2 })).toMatchObject({
      code: -32005,
      message: `The condition does not hold after 2 slots, at slot 2: ${data.pubkey} is not in the registry yet: its deposit is pending.`,
    });
    expect(await caller.error("dev_advance", { ...untilActive(UNKNOWN), limit: 2 })).toMatchObject({
      message: expect.stringMatching(/at slot 4: 0x11+ is not in the registry, and no deposit of it is pending\.$/),
    });
    expect(await caller.call("dev_advance", untilActive(data.pubkey))).toBeDefined();
  });

  it("fails when the deposit is dropped", async () => {
    const { caller } = await open();
    const [{ data }] = (await caller.call("dev_deposit", { bad_signature: true })) as [{ data: { pubkey: string } }];
    expect(await caller.error("dev_advance", untilActive(data.pubkey))).toMatchObject({
      code: -32001,
      message: expect.stringMatching(/^The deposit of 0x[0-9a-f]{96} was dropped: its signature is invalid\./),
    });
    expect(await slotOf(caller)).toBeLessThan(8 * SLOTS_PER_EPOCH);
  });

  it("fails after 32 epochs without a deposit", async () => {
    const { caller } = await open({ validators: 8 });
    expect(await caller.error("dev_advance", untilActive(UNKNOWN))).toMatchObject({
      code: -32001,
      message: expect.stringMatching(
        /^0x11+ has been neither in the registry nor among the pending deposits for 32 epo/,
      ),
    });
    expect(await slotOf(caller)).toBe(32 * SLOTS_PER_EPOCH);
  });

  it("waits for eth1 votes before electra", async () => {
    const { caller } = await open({ forks: [{ fork: "deneb", epoch: 0 }] });
    const error = await caller.error("dev_advance", { ...untilActive(UNKNOWN), limit: 1 });
    expect(error).toMatchObject({ message: expect.stringMatching(/at slot 1: 0x11+ is not in the registry\.$/) });
  });
});

describe("running time", () => {
  it("pauses after the current slot, accepts control calls, and resumes", async () => {
    const { caller, devChain, complaints } = await open({ speed: 2 });
    await devChain.run();
    // At this speed validators wait for deadlines within their slots. A pause does not leave them waiting.
    await devChain.clock.untilSlot(1);
    const paused = (await caller.call("dev_pause")) as Position;
    expect(paused).toMatchObject({ slot: "1", head_slot: "1", speed: 0 });
    expect(await caller.call("dev_pause")).toEqual(paused);
    expect(await caller.call("dev_advance", [2])).toMatchObject({ slot: "3", head_slot: "3", speed: 0 });
    expect(await caller.call("dev_resume")).toMatchObject({ slot: "3", speed: 2 });
    expect(await caller.call("dev_advance", [2])).toMatchObject({ slot: "5", speed: 2 });
    expect(await caller.call("dev_setSpeed", [1000])).toMatchObject({ speed: 1000 });
    await devChain.clock.untilSlot(20);
    expect(await caller.call("dev_setSpeed", [0])).toMatchObject({ speed: 0 });
    expect(await caller.call("getChainTime")).toMatchObject({ speed: 0 });
    const { slot } = (await caller.call("dev_pause")) as Position;
    expect(devChain.chain.head.slot).toBe(Number(slot));
    expect(complaints).toEqual([]);
  });

  it("stops an advance when its caller aborts", async () => {
    const { devChain } = await open();
    const waiting = new AbortController();
    devChain.clock.onSlot((slot) => {
      if (slot === 3) waiting.abort();
    });
    await devChain.control.time.advance({ slots: 1000, signal: waiting.signal });
    expect(devChain.clock.currentSlot).toBe(3);
  });

  it("defers control calls until the history of a new chain is complete", async () => {
    const { caller, devChain } = await open({ warmupEpochs: 2 });
    const warmUp = devChain.warmUp();
    const advanced = caller.call("dev_advance", [1]);
    await warmUp;
    await devChain.run();
    expect(await advanced).toMatchObject({ slot: String(2 * SLOTS_PER_EPOCH + 1) });
  });

  it.each([
    ["dev_pause", [], 0],
    ["dev_setSpeed", [0], 0],
    ["dev_setSpeed", [3], 3],
  ])("stays as %s %j has it that came while history was made", async (method, params, speed) => {
    const { caller, devChain } = await open({ warmupEpochs: 1, speed: 1 });
    const warmUp = devChain.warmUp();
    const told = caller.call(method, params);
    await warmUp;
    await told;
    await devChain.run();
    expect(await caller.call("getChainTime")).toMatchObject({ speed });
  });
});
