import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it } from "vitest";
import { Caller } from "../support/api/caller.ts";
import { openDevChain } from "../support/chain/dev-chain.ts";

import { GLOAS } from "../support/chain/gloas-chain.ts";

const EPOCHS = 100;
const SLOTS = EPOCHS * SLOTS_PER_EPOCH;
/** Growth over the second half: the blocks in fork choice take up 2 MB. */
const MAX_GROWTH_BYTES = 10_000_000;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

it("full and empty blocks alternate for 100 epochs without finality: the head is right, and memory flat", async () => {
  const { devChain, complaints } = await openDevChain({ speed: 0, forks: GLOAS, validators: 16 });
  const { chain, api } = devChain;
  const caller = new Caller(api);
  await caller.call("dev_setValidators", { offline: "0-6" });
  let blocks = 0;
  let half: number | undefined;
  for (let slot = 1; slot <= SLOTS; slot++) {
    if (slot % 2 === 0) await caller.call("dev_withholdPayloads");
    await caller.call("dev_advance");
    if (chain.head.slot === slot) {
      blocks++;
      expect(chain.headNode.payloadStatus, `slot ${slot}`).toBe(slot % 2 === 0 ? "empty" : "full");
    }
    const { root, parentRoot } = chain.head;
    const parent = chain.forkChoice.get(parentRoot);
    if (parent && parent.slot > 0) {
      expect(chain.forkChoice.parentPayloadStatus(root), `slot ${slot}`).toBe(parent.slot % 2 === 0 ? "empty" : "full");
    }
    if (slot === SLOTS / 2) half = heapBytes();
  }
  expect(chain.finalizedCheckpoint.epoch).toBe(0);
  // Seven of sixteen proposers are offline.
  expect(blocks).toBeGreaterThan(SLOTS / 3);
  expect(heapBytes() - half!).toBeLessThan(MAX_GROWTH_BYTES);
  await caller.call("dev_setValidators", { online: "all" });
  await caller.call("dev_advance", { until: "finalized", limit: 1000 * SLOTS_PER_EPOCH, timeout_seconds: 120 });
  expect(complaints).toEqual([]);
}, 600_000);

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
