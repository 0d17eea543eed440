import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { describe, expect, test } from "vitest";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const EPOCHS = 4;
const VALIDATORS = 12;

const SPLITS: [name: string, validators: number[][]][] = [
  ["one of which has all validators", [range(0, VALIDATORS), [], []]],
  ["that share the validators", [range(0, 4), range(4, 8), range(8, 12)]],
];

describe("three nodes", () => {
  test.each(SPLITS)("%s agree on the head and finalize", async (_name, validators) => {
    const network = new TestNetwork({ validators: VALIDATORS, forks: [{ fork: "altair", epoch: 2 }] });
    const first = await network.add(validators[0]!);
    await network.add(validators[1]!, [first]);
    await network.add(validators[2]!, [first]);
    await network.untilConnected();

    await network.runTo(EPOCHS * SLOTS_PER_EPOCH);

    await network.untilSameHead();
    const [{ chain: seen }] = network.nodes as [TestNode];
    expect(seen.forkChoice.finalized.epoch).toBeGreaterThanOrEqual(EPOCHS - 3);
    for (const { chain } of network.nodes) expect(chain.forkChoice.finalized).toEqual(seen.forkChoice.finalized);
  });
});
