import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it, vi } from "vitest";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const VALIDATORS = 16;
const GLOAS_EPOCH = 2;
const FORKS = [
  { fork: "fulu", epoch: 0 },
  { fork: "gloas", epoch: GLOAS_EPOCH },
] as const;

const rejectionsOf = ({ log }: TestNode) => log.filter((line) => /Rejected (block|payload|message)/.test(line));

/** Payload statuses of the canonical blocks after the finalized one, oldest first. The last one is still undecided. */
function statuses({ chain }: TestNode): string[] {
  const blocks = [...chain.forkChoice.ancestors(chain.head.root)];
  return blocks
    .slice(0, -1)
    .map(({ root }) => chain.forkChoice.parentPayloadStatus(root))
    .reverse();
}

it("a node that starts late syncs a chain across the fork to gloas, with all payloads", {
  timeout: 120_000,
}, async () => {
  const network = new TestNetwork({ validators: VALIDATORS, forks: FORKS, slotMs: 400 });
  const blobs = { min: 1, max: 1 };
  const first = await network.add(range(0, VALIDATORS), [], { timing: "lockstep", blobs, supernode: true });
  await network.clock.advanceTo(6 * SLOTS_PER_EPOCH);
  expect(first.chain.forkChoice.finalized.epoch).toBe(4);

  const late = await network.add([], [first]);
  await late.networking.sync.whenSynced();
  await network.untilSameHead();
  expect(late.chain.forkChoice.finalized).toEqual(first.chain.forkChoice.finalized);
  for (const { root } of late.chain.forkChoice.ancestors(late.chain.head.parentRoot)) {
    expect(await late.chain.payloadStore.has(root)).toBe(true);
  }

  await network.untilConnected();
  await network.runUntil(() => late.chain.forkChoice.finalized.epoch > 4);
  await network.untilSameHead();
  expect(statuses(late)).toContain("full");
  expect(network.nodes.flatMap(rejectionsOf)).toEqual([]);
});

it("a node that starts from a state of gloas fetches its payload, follows, and backfills payloads", {
  timeout: 120_000,
}, async () => {
  const network = new TestNetwork({ validators: VALIDATORS, forks: FORKS, slotMs: 400 });
  const blobs = { min: 1, max: 1 };
  const options = { timing: "lockstep", authority: "sole", blobs, supernode: true } as const;
  const source = await network.add(range(0, VALIDATORS), [], options);
  await network.clock.advanceTo(6 * SLOTS_PER_EPOCH);
  const anchorSlot = 4 * SLOTS_PER_EPOCH;
  const anchor = (await source.chain.states.canonicalAtSlot(anchorSlot))!;
  const node = await network.add([], [source], { anchor });
  await network.untilSameHead();
  expect(node.chain.forkChoice.finalized).toEqual(source.chain.forkChoice.finalized);

  await vi.waitFor(() => expect(node.chain.history.earliestBlockSlot).toBe(1), { timeout: 60_000 });
  for (let slot = GLOAS_EPOCH * SLOTS_PER_EPOCH; slot <= 6 * SLOTS_PER_EPOCH - 1; slot++) {
    const root = (await node.chain.blocks.rootAtSlot(slot))!;
    expect(await node.chain.payloadStore.get(root)).toEqual(await source.chain.payloadStore.get(root));
  }
  expect(network.nodes.flatMap(rejectionsOf)).toEqual([]);
});
