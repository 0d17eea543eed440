import { expect, test } from "vitest";
import { fuzzNode } from "../support/fuzz/fuzzed-node.ts";

const SEED = Number(process.env.FANAL_TEST_SEED ?? Date.now() % 2 ** 31);

test("no request whatever breaks a node", async () => {
  const { answers } = await fuzzNode({ firstRequests: 500, requests: 2500, seed: SEED });
  // Unless some requests got through to every part of the servers, the above would say little.
  for (const kind of [
    "result",
    "-32700",
    "-32600",
    "-32602",
    "-32001",
    "HTTP 200",
    "HTTP 400",
    "HTTP 404",
    "HTTP 101",
  ]) {
    expect(answers.get(kind), kind).toBeGreaterThan(0);
  }
});
