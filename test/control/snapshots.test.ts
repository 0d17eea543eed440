import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { describe, expect, it } from "vitest";
import { Caller } from "../support/caller.ts";
import { openDevChain } from "../support/dev-chain.ts";
import { SignedOperations } from "../support/signed-operations.ts";
import { survey } from "../support/survey.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const VALIDATORS = Array.from({ length: 16 }, (_, index) => index);
const TIME_OF_DAY = 1_800_000_000;

async function open(options: Parameters<typeof openDevChain>[0] = {}, directory = tempDirectory()) {
  const opened = await openDevChain(
    {
      forks: [{ fork: "fulu", epoch: 0 }],
      speed: 0,
      genesisTime: TIME_OF_DAY - 3600,
      timeOfDay: { nowSeconds: () => TIME_OF_DAY },
      ...options,
    },
    directory,
  );
  return { ...opened, caller: new Caller(opened.devChain.api) };
}

const hasRefused = (answer: unknown) => typeof answer === "object" && answer !== null && "refused" in answer;

describe("a snapshot", () => {
  it("is gone back to with everything that can be asked, whatever became final since", async () => {
    const { caller, devChain } = await open();
    const { chain } = devChain;
    await caller.call("dev_advance", [4 * SLOTS_PER_EPOCH + 3]);
    const operations = new SignedOperations(devChain);
    await chain.processor.proposerSlashing(operations.doubleProposal(3, 1));
    const slots = [0, 1, 9, 20, 27, 32, 33, 34, 35, 36, 40, 80];
    const subjects = {
      blockIds: ["head", "finalized", "justified", "genesis", chain.head.root, ...slots],
      stateIds: ["head", "finalized", "justified", "genesis", chain.head.stateRoot, ...slots],
      epochs: [0, 2, 3, 4, 5, 9],
      validators: VALIDATORS,
    };
    const before = await survey(caller, subjects);
    expect(Object.values(before).filter((answer) => !hasRefused(answer)).length).toBeGreaterThan(300);
    expect(await caller.call("dev_snapshot")).toBe("0x1");

    await caller.call("dev_skip", [1]);
    await chain.processor.attesterSlashing(operations.doubleVote([5], 1));
    await caller.call("dev_advance", [5 * SLOTS_PER_EPOCH]);
    const left = chain.head;
    expect(chain.forkChoice.finalized.epoch).toBeGreaterThan(5);
    // Whatever is held of what will be left.
    await survey(caller, { ...subjects, blockIds: [left.root, "head", 60], stateIds: [left.stateRoot, "head", 60] });
    const heard: string[] = [];
    chain.events.on("head", ({ slot }) => heard.push(`head ${slot}`));
    chain.events.on("reorg", ({ slot, depth, oldHead }) => heard.push(`reorg ${slot} ${depth} ${oldHead}`));
    expect(await caller.call("dev_revert", ["0x1"])).toBe(true);

    expect(heard).toEqual([`reorg 35 ${left.slot - 35} ${left.root}`, "head 35"]);
    expect(await survey(caller, subjects)).toEqual(before);
    const gone = { ...subjects, blockIds: [left.root], stateIds: [left.stateRoot] };
    for (const [call, answer] of Object.entries(await survey(caller, gone))) {
      if (call.includes(left.root) || call.includes(left.stateRoot)) expect(hasRefused(answer), call).toBe(true);
    }
  });

  it("leads to the same chain when the same is done again, and to finality when it is not", async () => {
    const { caller, devChain, complaints } = await open();
    const { chain } = devChain;
    const rootAfter = async (slots: number) => (await caller.call("dev_advance", [slots])).head_block_root;
    await caller.call("dev_advance", [2 * SLOTS_PER_EPOCH + 5]);
    for (const slots of [3, 4 * SLOTS_PER_EPOCH]) {
      const outer = await caller.call("dev_snapshot");
      const first = await rootAfter(slots);
      await caller.call("dev_revert", [outer]);
      // Twice the same: blocks with the same votes, signed by the same validators.
      expect(await rootAfter(slots)).toBe(first);
      expect(await caller.call("dev_revert", [await caller.call("dev_snapshot")])).toBe(true);
      expect(chain.head.root).toBe(first);
    }
    const { finalized_epoch: before } = await caller.call("dev_advance", [1]);
    await caller.call("dev_skip", [2]);
    const { finalized_epoch: after } = await caller.call("dev_advance", { until: "finalized" });
    expect(Number(after)).toBeGreaterThan(Number(before));
    expect(complaints).toEqual([]);
  });
});
