import { expect, it } from "vitest";
import { fuzzNode, KINDS_OF_ANSWERS } from "../support/fuzz/fuzzed-node.ts";

const SEED = Number(process.env.FANAL_TEST_SEED ?? 1);

it("no fuzzed request breaks a node", async () => {
  const { answers } = await fuzzNode({ firstRequests: 0, requests: 300, seed: SEED });
  for (const kind of KINDS_OF_ANSWERS) expect(answers.get(kind), kind).toBeGreaterThan(0);
});
