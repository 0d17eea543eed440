import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const EPOCHS = 4;
const VALIDATORS = 12;

it("three nodes that share the validators agree on the head and finalize", async () => {
  const network = new TestNetwork({ validators: VALIDATORS, forks: [{ fork: "altair", epoch: 2 }] });
  const first = await network.add(range(0, 4));
  await network.add(range(4, 8), [first]);
  await network.add(range(8, 12), [first]);
  await network.untilConnected();

  await network.runTo(EPOCHS * SLOTS_PER_EPOCH);

  await network.untilSameHead();
  const [{ chain: seen }] = network.nodes as [TestNode];
  expect(seen.forkChoice.finalized.epoch).toBeGreaterThanOrEqual(EPOCHS - 3);
  for (const { chain } of network.nodes) expect(chain.forkChoice.finalized).toEqual(seen.forkChoice.finalized);
});
