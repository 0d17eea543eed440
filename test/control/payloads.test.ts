import { PTC_SIZE, SLOTS_PER_EPOCH } from "@lodestar/params";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { Caller } from "../support/api/caller.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";
import { GLOAS } from "../support/chain/gloas-chain.ts";

async function open(options: Partial<DevNodeOptions> = {}) {
  const opened = await openDevChain({ forks: GLOAS, genesisTime: 1_700_000_000, speed: 0, ...options });
  const { chain, api } = opened.devChain;
  const caller = new Caller(api);
  const slots = (count: number) => caller.call("dev_advance", [count]);
  /** Head slot and payload statuses of all canonical slots, such as "fef". */
  const statuses = async (first: number, last: number) => {
    let text = "";
    for (let slot = first; slot <= last; slot++) {
      text += (await caller.call("dev_getPayload", [slot])).payload_status[0];
    }
    return text;
  };
  return { ...opened, chain, caller, slots, statuses };
}

it("payloads are in time at the end of an epoch, too, after the clock ran fast", async () => {
  const { caller, slots, statuses } = await open();
  await caller.call("dev_setSpeed", [100_000]);
  await caller.call("dev_setSpeed", [0]);
  const first = Number((await caller.call("getChainTime")).slot) + 1;
  await slots(2 * SLOTS_PER_EPOCH);
  expect(await statuses(first, first + 2 * SLOTS_PER_EPOCH - 1)).toMatch(/^f+$/);
});

describe("a withheld payload", () => {
  it("leaves its block empty, and the next one builds on the payload before", async () => {
    const { caller, chain, slots, statuses, complaints } = await open();
    await slots(3);
    expect(await caller.call("dev_withholdPayloads")).toEqual({ from_slot: "4", until_slot: "5" });
    expect(await caller.call("dev_withholdPayloads", { slots: 2, slot: 6 })).toEqual({
      from_slot: "6",
      until_slot: "8",
    });
    await slots(1);
    expect(await caller.call("dev_getPayload")).toMatchObject({
      slot: "4",
      block_root: chain.head.root,
      payload_status: "empty",
      is_imported: false,
      is_withheld: true,
      votes: { payload_present: "0", payload_absent: String(PTC_SIZE), blob_data_available: String(PTC_SIZE) },
    });
    await slots(4);
    expect(await statuses(1, 8)).toBe("fffefeef");
    const [before, after] = [await caller.call("dev_getPayload", [3]), await caller.call("dev_getPayload", [5])];
    expect(after.parent_block_hash).toBe(before.block_hash);
    await caller.call("dev_advance", { until: "finalized", limit: 6 * SLOTS_PER_EPOCH });
    expect(await statuses(1, 8)).toBe("fffefeef");
    expect(complaints).toEqual([]);
  });

  it("is revealed on request, before and after the next block", async () => {
    const { caller, chain, slots, statuses, complaints } = await open();
    await caller.call("dev_withholdPayloads", { slots: 2 });
    await caller.call("dev_setPayloadVotes", { slots: 2, abstain: true });
    await slots(1);
    expect(chain.headNode.payloadStatus).toBe("empty");
    expect(await caller.call("dev_revealPayload")).toMatchObject({
      slot: "1",
      is_imported: true,
      is_withheld: false,
      votes: { payload_present: "0", payload_absent: "0" },
    });
    await slots(2);
    expect(await statuses(1, 3)).toBe("fef");
    expect(await caller.call("dev_revealPayload", [2])).toMatchObject({
      slot: "2",
      payload_status: "empty",
      is_imported: true,
    });
    expect((await caller.error("dev_revealPayload")).message).toBe(
      "No payload is withheld. dev_withholdPayloads does that.",
    );
    await slots(1);
    expect(await statuses(1, 4)).toBe("feff");
    expect(complaints).toEqual([]);
  });

  it("is lost after finality", async () => {
    const { caller, slots } = await open();
    await caller.call("dev_withholdPayloads");
    await slots(1);
    await caller.call("dev_advance", { until: "finalized", limit: 6 * SLOTS_PER_EPOCH });
    expect(await caller.error("dev_revealPayload", [1])).toMatchObject({
      code: -32003,
      message: expect.stringMatching(/^The payload of block 0x\w{64} is too late: a later block is finalized\.$/),
    });
    expect((await caller.error("dev_revealPayload")).message).toMatch(/^No payload is withheld\./);
  });

  it("is revealed for the newest block of the chain, not for a newer one beside it", async () => {
    const { caller, slots, statuses } = await open();
    await slots(1);
    await caller.call("dev_withholdPayloads", { slots: 2 });
    await slots(2);
    await caller.call("dev_reorg", { depth: 1 });
    expect(await caller.call("dev_revealPayload")).toMatchObject({ slot: "2", is_imported: true });
    expect((await statuses(1, 2)).startsWith("f")).toBe(true);
  });
});

describe("a late payload", () => {
  it.each([
    ["before the votes are due", { seconds: 4 }, { payload_absent: PTC_SIZE, blob_data_available: PTC_SIZE }],
    ["after the votes", {}, { payload_absent: PTC_SIZE, blob_data_available: PTC_SIZE }],
    ["after the next block", { slots_late: 1 }, { payload_absent: PTC_SIZE }],
  ])("leaves its block empty: %s", async (_, delay, votes) => {
    const { caller, slots, statuses, complaints } = await open({ slotSeconds: 6 });
    await slots(2);
    await caller.call("dev_delayPayloads", delay);
    await slots(3);
    expect(await statuses(1, 5)).toBe("ffeff");
    const texts = Object.fromEntries(Object.entries(votes).map(([name, count]) => [name, String(count)]));
    expect(await caller.call("dev_getPayload", [3])).toMatchObject({ is_imported: true, votes: texts });
    expect(complaints).toEqual([]);
  });
});

it("a late payload arrives, too, after a revert to a slot before", async () => {
  const { caller, slots, complaints } = await open();
  await caller.call("dev_delayPayloads", { slots_late: 2 });
  await slots(1);
  const snapshot = await caller.call("dev_snapshot");
  const arrives = async () => {
    await slots(1);
    expect(await caller.call("dev_getPayload", [1])).toMatchObject({ is_imported: false });
    await slots(2);
    expect(await caller.call("dev_getPayload", [1])).toMatchObject({ is_imported: true });
  };
  await arrives();
  await caller.call("dev_revert", [snapshot]);
  await arrives();
  expect(complaints).toEqual([]);
});

describe("a different payload", () => {
  it("is rejected", async () => {
    const { caller, slots, statuses, complaints } = await open();
    await caller.call("dev_falsifyPayloads", { slots: 2 });
    await slots(1);
    expect(await caller.call("dev_getPayload")).toMatchObject({
      payload_status: "empty",
      is_imported: false,
      votes: { payload_present: "0" },
    });
    await slots(2);
    expect(await statuses(1, 3)).toBe("eef");
    // The right one is still withheld.
    expect(await caller.call("dev_revealPayload", [2])).toMatchObject({ is_imported: true });
    expect(complaints).toEqual([]);
  });
});

describe("an equivocation", () => {
  it("leaves the right payload on the chain", async () => {
    const { caller, chain, slots, statuses, complaints } = await open();
    const rejected: unknown[] = [];
    chain.events.on("payloadGossip", ({ slot }) => rejected.push(slot));
    await caller.call("dev_falsifyPayloads", { slots: 2, kind: "equivocation" });
    await slots(3);
    expect(await statuses(1, 3)).toBe("fff");
    expect(await caller.call("dev_getPayload", [2])).toMatchObject({
      is_imported: true,
      is_invalid: false,
      votes: { payload_present: String(PTC_SIZE) },
    });
    // Only the right ones were passed on.
    expect(rejected).toEqual([1, 2, 3]);
    expect(complaints).toEqual([]);
  });

  it("is noticed after the right payload, too, and the same one is known", async () => {
    const { chain, slots } = await open();
    await slots(1);
    const signed = (await chain.payloadStore.get(chain.head.root))!;
    const { message } = signed;
    expect(await chain.importPayload(signed)).toEqual({ root: chain.head.root, known: true });
    const payload = { ...message.payload, blockHash: new Uint8Array(32).fill(1) };
    await expect(chain.importPayload({ ...signed, message: { ...message, payload } })).rejects.toThrow(
      `The envelope does not match block ${chain.head.root}: its block hash is 0x0101`,
    );
    expect(chain.headNode.payloadStatus).toBe("full");
  });
});

describe("an invalid payload", () => {
  it.each([
    ["the built-in engine", {}],
    ["the EVM", { evm: { chainId: 31_337 } }],
  ])("leaves its block empty, whose attestations count, with %s", async (_, options) => {
    const { caller, chain, slots, statuses, complaints } = await open(options);
    await slots(2);
    await caller.call("dev_falsifyPayloads", { slots: 2, kind: "invalid" });
    await slots(1);
    expect(await caller.call("dev_getPayload")).toMatchObject({
      slot: "3",
      payload_status: "empty",
      is_imported: false,
      is_withheld: false,
      is_invalid: true,
      // The committee does not execute payloads.
      votes: { payload_present: String(PTC_SIZE) },
    });
    const { root } = chain.head;
    await slots(2);
    expect(await statuses(1, 5)).toBe("ffeef");
    expect((await caller.call("dev_getPayload", [3])).block_root).toBe(root);
    const rejected = expect.stringContaining("Execution engine rejected the payload of a block");
    expect(complaints).toEqual([rejected, rejected]);
    // Finality takes no longer than without the empty blocks.
    await slots(3 * SLOTS_PER_EPOCH - 5);
    expect(chain.justifiedCheckpoint.epoch).toBe(2);
    const { body } = (await chain.blocks.signedByRoot((await caller.call("dev_getPayload", [4])).block_root))!.message;
    expect(body.attestations.map(({ data }) => [data.slot, toRootHex(data.beaconBlockRoot)])).toContainEqual([3, root]);
    await caller.call("dev_advance", { until: "finalized", limit: 6 * SLOTS_PER_EPOCH });
    expect(await statuses(1, 5)).toBe("ffeef");
    expect(complaints).toHaveLength(2);
  });
});

describe("a payload without its blobs", () => {
  it("waits for them, and has no effect if there are none", async () => {
    const { caller, slots, statuses } = await open({ devBlobs: { min: 0, max: 1 } });
    await caller.call("dev_withholdBlobs", { slots: 2 });
    await slots(1);
    expect(await caller.call("dev_getPayload")).toMatchObject({
      payload_status: "empty",
      is_imported: false,
      is_withheld: true,
      votes: { payload_present: String(PTC_SIZE), blob_data_missing: String(PTC_SIZE) },
    });
    await slots(2);
    expect(await statuses(1, 3)).toBe("eff");
    expect(await caller.call("dev_revealPayload", [1])).toMatchObject({ is_imported: true, is_withheld: false });
  });
});

describe("votes of the payload timeliness committee", () => {
  it("that deny a payload make the next proposer build without it", async () => {
    const { caller, slots, statuses, complaints } = await open();
    await caller.call("dev_setPayloadVotes", { payload_present: false });
    await slots(1);
    expect(await caller.call("dev_getPayload")).toMatchObject({
      is_imported: true,
      votes: { payload_present: "0", payload_absent: String(PTC_SIZE), blob_data_missing: "0" },
    });
    await caller.call("dev_setPayloadVotes", { blob_data_available: false });
    await slots(3);
    expect(await statuses(1, 4)).toBe("eeff");
    expect(complaints).toEqual([]);
  });

  it("that are missing, or contradict each other without a majority, do not", async () => {
    const { caller, slots, statuses, complaints } = await open({ validators: 64 });
    await caller.call("dev_setPayloadVotes", { slots: 2, abstain: true });
    await caller.call("dev_setPayloadVotes", { slots: 2, slot: 3, payload_present: false, validators: 0.25 });
    await caller.call("dev_setPayloadVotes", { slots: 2, slot: 3, blob_data_available: false, validators: "1-3" });
    await slots(5);
    expect(await statuses(1, 5)).toBe("fffff");
    expect((await caller.call("dev_getPayload", [1])).votes).toEqual({
      payload_present: "0",
      payload_absent: "0",
      blob_data_available: "0",
      blob_data_missing: "0",
    });
    const { votes } = await caller.call("dev_getPayload", [3]);
    expect(Number(votes!.payload_absent)).toBeGreaterThan(0);
    expect(Number(votes!.payload_present)).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });
});

describe("dev_advance", () => {
  it("runs until a new block has its payload, or is empty", async () => {
    const { caller, slots } = await open();
    await caller.call("dev_withholdPayloads", { slots: 3 });
    expect(await caller.call("dev_advance", { until: "payload" })).toMatchObject({ head_slot: "4" });
    await caller.call("dev_withholdPayloads", { slot: 7 });
    expect(await caller.call("dev_advance", { until: "empty" })).toMatchObject({ head_slot: "7" });
    await slots(1);
    await caller.call("dev_withholdPayloads", { slot: 60 });
    const error = await caller.error("dev_advance", { until: "empty", limit: 2 });
    expect(error.message).toBe(
      "The condition does not hold after 2 slots, at slot 10: all blocks after slot 8 have their payloads.",
    );
    await caller.call("dev_withholdPayloads", { slots: 9 });
    expect((await caller.error("dev_advance", { until: "payload", limit: 2 })).message).toBe(
      "The condition does not hold after 2 slots, at slot 12: no block after slot 10 has its payload.",
    );
    await caller.call("dev_withholdPayloads", { slots: 0 });
    expect(await caller.call("dev_advance", { until: "payload" })).toMatchObject({ head_slot: "13" });
  });

  it("tells at once that no block will be empty", async () => {
    const { caller, chain } = await open({ validators: 8, builders: { count: 1, balance: 100e9 } });
    const message =
      "No block will be empty: all payloads will be revealed in time, and voted for. " +
      "Schedule a fault first, such as dev_withholdPayloads.";
    const isRefused = async () => {
      const { currentSlot } = chain.clock;
      const error = await caller.error("dev_advance", { until: "empty", limit: 1 });
      expect(error.message).toMatch(/^(No block will be empty|The condition does not hold after 1 slots)/);
      expect(chain.clock.currentSlot).toBe(error.message === message ? currentSlot : currentSlot + 1);
      return error.message === message;
    };
    expect(await isRefused()).toBe(true);
    for (const [method, params, end] of [
      ["dev_withholdPayloads", { slot: 40 }, { slots: 0 }],
      ["dev_setPayloadVotes", { slot: 40, abstain: true }, { slots: 0 }],
      ["dev_delayBlocks", { slots: 3 }, { slots: 0 }],
      ["dev_setValidators", { offline: [7] }, { online: "all" }],
      ["dev_withholdBuilderPayloads", { builder: 0, slots: 9 }, { builder: 0, slots: 0 }],
    ] as const) {
      await caller.call(method, params);
      expect(await isRefused(), method).toBe(false);
      await caller.call(method, end);
      expect(await isRefused(), method).toBe(true);
    }
  });

  it("crosses the fork for a payload", async () => {
    const forks = [
      { fork: "fulu" as const, epoch: 0 },
      { fork: "gloas" as const, epoch: 1 },
    ];
    const { caller } = await open({ forks });
    expect((await caller.error("dev_advance", { until: "empty" })).message).toContain("No block will be empty");
    await caller.call("dev_withholdPayloads", { slot: 40 });
    const { message } = await caller.error("dev_advance", { until: "empty", limit: 2 });
    expect(message).toContain("the chain is fulu until epoch 1.");
    expect(await caller.call("dev_advance", { until: "payload" })).toMatchObject({ head_slot: "8" });
  });
});

describe("bad input", () => {
  it("before gloas names the fork", async () => {
    const forks = [
      { fork: "fulu" as const, epoch: 0 },
      { fork: "gloas" as const, epoch: 1 },
    ];
    const { caller, statuses } = await open({ forks });
    const message =
      "Payloads are revealed apart from their blocks since gloas; this chain is fulu until epoch 1. " +
      "dev_advance runs slots until then.";
    const methods = ["dev_withholdPayloads", "dev_delayPayloads", "dev_falsifyPayloads", "dev_withholdBlobs"] as const;
    for (const method of [...methods, "dev_revealPayload", "dev_getPayload"] as const) {
      expect(await caller.error(method)).toMatchObject({ code: -32004, message });
    }
    expect(await caller.error("dev_setPayloadVotes", { abstain: true })).toMatchObject({ message });
    await caller.call("dev_withholdPayloads", { slot: 9 });
    await caller.call("dev_advance", [10]);
    expect(await statuses(8, 10)).toBe("fef");
  });

  it("on a chain without gloas says how to start one", async () => {
    const { caller } = await open({ forks: [{ fork: "fulu", epoch: 0 }] });
    const message =
      "Payloads are revealed apart from their blocks since gloas; this chain is fulu. " +
      "Start it with --fork gloas or --gloas-at EPOCH.";
    expect(await caller.error("dev_withholdPayloads")).toMatchObject({ message });
    expect(await caller.error("dev_advance", { until: "payload" })).toMatchObject({ code: -32004, message });
  });

  it("says what is right", async () => {
    const { caller, slots } = await open({ slotSeconds: 6 });
    await slots(2);
    for (const [method, params, message] of [
      ["dev_withholdPayloads", { slot: 2 }, '"slot" must be 3, the next slot, or later, got 2.'],
      ["dev_withholdPayloads", { slots: 1025 }, '"slots" must be a number of slots from 0 to 1024'],
      [
        "dev_delayPayloads",
        { seconds: 1 },
        '"seconds" must be from 3 (payload deadline) to 5.94 (end of the slot), got 1.',
      ],
      ["dev_delayPayloads", { seconds: 9, slots_late: 1 }, '"seconds" must be from 0 (start of the slot) to 5.94'],
      ["dev_setPayloadVotes", {}, "The vote is missing. Give payload_present, blob_data_available or abstain."],
      ["dev_setPayloadVotes", { abstain: true, payload_present: true }, "abstain excludes payload_present"],
      ["dev_setPayloadVotes", { abstain: true, validators: "5-99" }, "The key of validator 16 is unknown."],
      [
        "dev_revealPayload",
        { block_id: "head" },
        "is not withheld. Withheld payloads are lost when the node restarts.",
      ],
      ["dev_getPayload", { block_id: 99 }, "99"],
    ] as const) {
      expect((await caller.error(method, params)).message).toContain(message);
    }
  });
});

describe("a snapshot", () => {
  it("between a block and its payload keeps the payload and the faults to come", async () => {
    const { caller, slots, statuses, complaints } = await open();
    await caller.call("dev_withholdPayloads", { slots: 2 });
    await caller.call("dev_setPayloadVotes", { slots: 4, abstain: true });
    await slots(1);
    const id = await caller.call("dev_snapshot");
    await caller.call("dev_revealPayload");
    await caller.call("dev_withholdPayloads", { slots: 0 });
    await slots(2);
    expect(await statuses(1, 3)).toBe("fff");
    await caller.call("dev_revert", [id]);
    expect(await caller.call("dev_getPayload")).toMatchObject({ slot: "1", is_imported: false, is_withheld: true });
    await slots(2);
    expect(await statuses(1, 3)).toBe("eef");
    const again = await caller.call("dev_snapshot");
    await slots(1);
    await caller.call("dev_revert", [again]);
    expect(await caller.call("dev_revealPayload", [1])).toMatchObject({ payload_status: "empty", is_imported: true });
    expect(complaints).toEqual([]);
  });
});
