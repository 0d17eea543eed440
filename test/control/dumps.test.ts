import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { ClassicLevel } from "classic-level";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ChainFileWriter } from "../../src/chain/stored/chain-file.ts";
import type { ScheduledFork } from "../../src/dev/forks.ts";
import type { DevIdentity } from "../../src/dev/identity.ts";
import type { Caller } from "../support/api/caller.ts";
import { openChainInHand, TIME_OF_DAY } from "../support/chain/chain-in-hand.ts";
import { SignedOperations } from "../support/chain/signed-operations.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { survey } from "./survey.ts";

/** Node-specific values, and values that differ after any start: the fork choice anchor and the seen messages. */
const OF_THE_NODE =
  /^(get_v1_node_identity|getNetworkPeerId|getNetworkEnr|get_v._debug_fork_choice|post_v1_validator_liveness_epoch) /;

const position = (caller: Caller) => caller.call("dev_skip", [0]);

it("a loaded dump equals the dumped chain and continues identically", async () => {
  const first = await openChainInHand();
  const { chain } = first.devChain;
  await first.caller.call("dev_advance", [4 * SLOTS_PER_EPOCH + 3]);
  await chain.processor.proposerSlashing(new SignedOperations(first.devChain).doubleProposal(5, 1));
  const ids = ["head", "finalized", "genesis", 1, 20, 33, 35, 36];
  const subjects = {
    blockIds: [...ids, chain.head.root],
    stateIds: [...ids, chain.head.stateRoot],
    epochs: [0, 4, 5],
    validators: [0, 1, 2, 3],
  };
  const answers = async (caller: Caller) =>
    Object.fromEntries(Object.entries(await survey(caller, subjects)).filter(([call]) => !OF_THE_NODE.test(call)));
  const dump = await first.caller.call("dev_dump");
  const before = await answers(first.caller);

  const directory = tempDirectory();
  const second = await openChainInHand({}, directory);
  await second.caller.call("dev_advance", [2 * SLOTS_PER_EPOCH]);
  const own = await position(second.caller);
  const snapshot = await second.caller.call("dev_snapshot");
  expect(await second.caller.call("dev_load", [dump])).toEqual(await position(first.caller));
  expect(await answers(second.caller)).toEqual(before);
  const { head_block_root: next } = await first.caller.call("dev_advance", [5]);
  expect(await second.caller.call("dev_advance", [5])).toMatchObject({ head_block_root: next });

  // Earlier snapshots still exist, and the dump can be loaded again.
  await second.caller.call("dev_revert", [snapshot]);
  expect(await position(second.caller)).toEqual(own);
  await second.caller.call("dev_advance", [1]);
  await second.caller.call("dev_load", [dump]);
  await second.abandon();
  const third = await openChainInHand({}, directory);
  expect(await third.caller.call("dev_advance", [5])).toMatchObject({ head_block_root: next });
  expect([...second.complaints, ...third.complaints]).toEqual([]);
});

it.each([
  ["the built-in engine", {}],
  ["the EVM", { evm: { chainId: 31_337 } }],
])("a dump of before gloas is loaded after the fork, and one of after it before, with %s", async (_, engine) => {
  const forks: ScheduledFork[] = [
    { fork: "fulu", epoch: 0 },
    { fork: "gloas", epoch: 1 },
  ];
  const options = { forks, validators: 16, ...engine };
  const first = await openChainInHand(options);
  const { caller } = first;
  const statuses = async () => {
    const { head_slot: last } = await caller.call("getChainHead");
    const slots = Array.from({ length: Number(last) + 1 - SLOTS_PER_EPOCH }, (_, n) => SLOTS_PER_EPOCH + n);
    return Promise.all(slots.map(async (slot) => (await caller.call("dev_getPayload", [slot])).payload_status[0]));
  };
  await caller.call("dev_advance", [5]);
  const before = await caller.call("dev_dump");
  const { head_block_root: next } = await caller.call("dev_advance", [1]);
  await caller.call("dev_advance", [4]);
  await caller.call("dev_withholdPayloads", { slots: 2 });
  await caller.call("dev_advance", [2]);
  const after = await caller.call("dev_dump");
  const { head_block_root: afterNext } = await caller.call("dev_advance", [1]);
  expect((await statuses()).join("")).toBe("fffeef");

  expect(await caller.call("dev_load", [before])).toMatchObject({ slot: "5" });
  expect(await caller.call("dev_advance", [1])).toMatchObject({ head_block_root: next });
  expect((await caller.error("dev_getPayload")).message).toContain("this chain is fulu until epoch 1.");
  await caller.call("dev_advance", { until: "payload" });
  await caller.call("dev_advance", { until: "finalized" });
  expect((await statuses()).join("")).toMatch(/^f+$/);

  await caller.call("dev_load", [before]);
  expect(await caller.call("dev_load", [after])).toMatchObject({ slot: "12" });
  expect(await caller.call("dev_getPayload")).toMatchObject({ payload_status: "empty", is_withheld: false });
  expect(await caller.call("dev_advance", [1])).toMatchObject({ head_block_root: afterNext });
  expect((await statuses()).join("")).toBe("fffeef");
  await caller.call("dev_advance", { until: "finalized" });
  expect(first.complaints).toEqual([]);
});

it("a loaded dump has the offline validators of its chain, whose duties they do not do", async () => {
  const first = await openChainInHand();
  await first.caller.call("dev_setValidators", { online: "none" });
  const dump = await first.caller.call("dev_dump");
  const second = await openChainInHand();
  await second.caller.call("dev_load", [dump]);
  expect(second.devChain.control.validators.presence().online).toEqual([]);
  await second.caller.call("dev_advance", [2]);
  expect(second.devChain.chain.head.slot).toBe(0);
});

it("a dump is written to and loaded from a file, and an invalid one changes nothing", async () => {
  const { caller, db } = await openChainInHand();
  await caller.call("dev_advance", [5]);
  const before = await position(caller);
  const path = join(dirname(db.path), "dumps", "five.chain");
  expect(await caller.call("dev_dump", ["five.chain"])).toBe(path);
  expect((await caller.error("dev_dump", ["five.chain"])).message).toMatch(/^The file .*five\.chain exists already\./);
  await caller.call("dev_advance", [5]);
  const after = await position(caller);
  const other = await openChainInHand({ genesisTime: TIME_OF_DAY - 7200 });
  const dumpOfOther: string = await other.caller.call("dev_dump");
  const ofOtherVersion = await openChainInHand();
  const identity = (await ofOtherVersion.db.meta.getIdentity()) as DevIdentity;
  vi.spyOn(ofOtherVersion.db.meta, "getIdentity").mockResolvedValue({
    ...identity,
    config: { ...identity.config, SHARD_COMMITTEE_PERIOD: "5" },
  });
  const dumpOfOtherVersion: string = await ofOtherVersion.caller.call("dev_dump");
  const dump: string = await caller.call("dev_dump");
  const wrong: [unknown[] | Record<string, unknown>, RegExp][] = [
    [[dumpOfOther], /the genesis time is \d+ \(requested: \d+\)\. Only a dump with the same genesis/],
    [[dumpOfOtherVersion], /a dev chain with SHARD_COMMITTEE_PERIOD "5" instead of "4"\. Only a dump/],
    [["0x1234"], /The dump cannot be loaded: it is not a chain file\./],
    [[dump.slice(0, -400)], /The dump cannot be loaded: entry \d+ is damaged or truncated\./],
    [{ file: "six.chain" }, /The file six\.chain does not exist in /],
    [{ file: "../five.chain" }, /must be a file name/],
    [{}, /Give either dump or file\./],
  ];
  for (const [params, message] of wrong) {
    expect((await caller.error("dev_load", params)).message).toMatch(message);
    expect(await position(caller)).toEqual(after);
  }
  expect(await caller.call("dev_load", { file: "five.chain" })).toEqual(before);
  expect(readdirSync(dirname(path))).toEqual(["five.chain"]);
  expect(readdirSync(dirname(db.path))).not.toContain("beacon-db.loading");
});

it("the next start deletes the leftovers of a killed dump or load, and nothing else", async () => {
  const directory = tempDirectory();
  await (await openChainInHand({}, directory)).close();
  const unfinished = [join("dumps", `.${randomUUID()}`), join("beacon-db.loading", "000003.log")];
  const others = [join("dumps", "five.chain"), join("dumps", ".hidden"), "beacon-db.loading.copy"];
  mkdirSync(join(directory, "beacon-db.loading"));
  mkdirSync(join(directory, "dumps"));
  for (const name of [...unfinished, ...others]) writeFileSync(join(directory, name), "");
  await openChainInHand({}, directory);
  expect(readdirSync(join(directory, "dumps")).sort()).toEqual([".hidden", "five.chain"]);
  expect(readdirSync(directory).sort()).toEqual(["beacon-db", "beacon-db.loading.copy", "dumps"]);
});

it("a cancelled dump or load is neither started nor finished", async () => {
  const { caller, devChain, db } = await openChainInHand();
  await caller.call("dev_advance", [2]);
  const dump = await caller.call("dev_dump");
  const left = new Error("The caller has left.");
  const store = vi.spyOn(devChain.chain, "store");
  const waiting = new AbortController();
  const advanced = caller.call("dev_advance", [2]);
  const outcomes = Promise.allSettled([
    caller.call("dev_dump", ["queued.chain"], waiting.signal),
    caller.call("dev_dump", [], waiting.signal),
    caller.call("anvil_dumpState", [], waiting.signal),
    caller.call("dev_load", [dump], waiting.signal),
    caller.call("anvil_loadState", [dump], waiting.signal),
  ]);
  waiting.abort(left);
  for (const outcome of await outcomes) expect(outcome).toEqual({ status: "rejected", reason: left });
  expect(store).not.toHaveBeenCalled();
  expect(await position(caller)).toEqual(await advanced);

  const watching = new AbortController();
  const entries = vi.spyOn(db, "chainEntries").mockImplementation(() => {
    throw new Error("The dump goes on.");
  });
  const range = db.finalizedBlocks.range.bind(db.finalizedBlocks);
  vi.spyOn(db.finalizedBlocks, "range").mockImplementationOnce((limits) => {
    watching.abort(left);
    return range(limits);
  });
  await expect(caller.call("dev_dump", ["begun.chain"], watching.signal)).rejects.toBe(left);
  expect(readdirSync(join(dirname(db.path), "dumps"))).toEqual([]);
  entries.mockRestore();
  await caller.call("dev_dump", ["begun.chain"]);
});

it("a reorg to a chain that diverged before finality has the depth of the common ancestor", async () => {
  const { caller, devChain } = await openChainInHand();
  const { chain } = devChain;
  const forkSlot = 5;
  await caller.call("dev_advance", [forkSlot]);
  const shared = await caller.call("dev_dump");
  await caller.call("dev_advance", [5 * SLOTS_PER_EPOCH]);
  const left = chain.head;
  const dump = await caller.call("dev_dump");
  await caller.call("dev_load", [shared]);
  await caller.call("dev_skip", [1]);
  await caller.call("dev_advance", [6 * SLOTS_PER_EPOCH]);
  const right = chain.head;
  expect(chain.forkChoice.finalized.epoch).toBeGreaterThan(1);

  const depths: number[] = [];
  chain.events.on("reorg", ({ depth }) => void depths.push(depth));
  const snapshot = await caller.call("dev_snapshot");
  await caller.call("dev_load", [dump]);
  expect(chain.head.root).toBe(left.root);
  expect(chain.forkChoice.finalized.epoch).toBeGreaterThan(1);
  await caller.call("dev_revert", [snapshot]);
  expect(chain.head.root).toBe(right.root);
  expect(depths).toEqual([right.slot - forkSlot, left.slot - forkSlot]);
});

describe("a full disk", () => {
  const FULL = "The disk is full";
  const noSpace = () => Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });

  it("is the error of a dump without space, and the chain continues", async () => {
    const { caller, complaints, db } = await openChainInHand();
    await caller.call("dev_advance", [3]);
    const dump = await caller.call("dev_dump");
    const writing = vi.spyOn(ChainFileWriter.prototype, "write").mockRejectedValue(noSpace());
    onTestFinished(() => writing.mockRestore());
    for (const params of [[], ["full.chain"]]) {
      const error = await caller.error("dev_dump", params);
      expect(error).toMatchObject({ code: -32000, message: expect.stringContaining(FULL), data: { status: 500 } });
    }
    writing.mockRestore();
    expect(readdirSync(join(dirname(db.path), "dumps"))).toEqual([]);
    await caller.call("dev_advance", [1]);
    expect(await caller.call("dev_load", [dump])).toMatchObject({ head_slot: "3" });
    expect(complaints).toEqual([]);
  });

  it.each(["dev_advance", "dev_dump", "dev_load"])(
    "is the error of %s when the database cannot be written",
    async (method) => {
      const { caller, abandon } = await openChainInHand();
      await caller.call("dev_advance", [3]);
      const dump = await caller.call("dev_dump");
      const writing = vi.spyOn(ClassicLevel.prototype, "batch").mockImplementation(() => {
        throw Object.assign(new Error("IO error: 000005.log: No space left on device"), { code: "LEVEL_IO_ERROR" });
      });
      onTestFinished(() => writing.mockRestore());
      const error = await caller.error(method, method === "dev_advance" ? [2] : method === "dev_load" ? [dump] : []);
      expect(error).toMatchObject({ code: -32000, message: expect.stringContaining(FULL), data: { status: 500 } });
      await abandon();
    },
  );
});
