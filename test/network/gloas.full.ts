import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it, vi } from "vitest";
import { RandomChoices } from "../support/random/random-choices.ts";
import { range, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

const VALIDATORS = 16;
const GLOAS_EPOCH = 1;
const PARTITION_EPOCHS = 3;
const FORKS = [
  { fork: "fulu", epoch: 0 },
  { fork: "gloas", epoch: GLOAS_EPOCH },
] as const;
/** How long a lost message may delay the next slot. */
const PATIENCE_MS = 6_000;

const rejectionsOf = ({ log }: TestNode) => log.filter((line) => /Rejected (block|payload|message)/.test(line));

/** Payload statuses of the canonical blocks after the finalized one, oldest first. The last one is still undecided. */
function statuses({ chain }: TestNode): string[] {
  const blocks = [...chain.forkChoice.ancestors(chain.head.root)];
  return blocks
    .slice(0, -1)
    .map(({ root }) => chain.forkChoice.parentPayloadStatus(root))
    .reverse();
}

const finalizedOf = (nodes: readonly TestNode[]) => nodes.map(({ chain }) => chain.forkChoice.finalized.epoch);

it("four nodes with lossy gossip cross the fork to gloas, a partition and a late fifth node", {
  timeout: 600_000,
}, async () => {
  const network = new TestNetwork({ validators: VALIDATORS, forks: FORKS });
  const nodes: TestNode[] = [];
  for (let index = 0; index < 4; index++) {
    const blobs = { min: 0, max: index === 0 ? 1 : 0 };
    nodes.push(await network.add(range(4 * index, 4 * index + 4), [...nodes], { blobs, timing: "lockstep" }));
  }
  await network.untilConnected(3);
  network.loseGossip(0.1, new RandomChoices(60));

  const headOf = ({ chain }: TestNode) => `${chain.head.root} ${chain.forkChoice.isPayloadVerified(chain.head.root)}`;

  /** Goes to the next slot when the nodes of each group agree on the head and its payload, or cannot for some time. */
  async function nextSlot(...groups: (readonly TestNode[])[]): Promise<void> {
    await network.clock.advanceTo(network.clock.currentSlot + 1);
    const agreed = () => {
      for (const group of groups) expect(new Set(group.map(headOf)).size).toBe(1);
    };
    await vi.waitFor(agreed, { timeout: PATIENCE_MS, interval: 10 }).catch(() => undefined);
  }
  while (network.clock.currentEpoch <= GLOAS_EPOCH + 1) await nextSlot(nodes);

  const [a, b, c, d] = nodes as [TestNode, TestNode, TestNode, TestNode];
  await network.divide([a, b], [c, d]);
  const finalized = Math.max(...finalizedOf(nodes));
  const healingEpoch = network.clock.currentEpoch + PARTITION_EPOCHS;
  while (network.clock.currentEpoch < healingEpoch) await nextSlot([a, b], [c, d]);
  expect(a.chain.head.root).not.toBe(c.chain.head.root);
  expect(Math.max(...finalizedOf(nodes))).toBeLessThanOrEqual(finalized + 1);

  network.heal();
  const { epoch, root } = a.chain.forkChoice.finalized;
  const anchor = await a.chain.states.afterBlock(root, epoch * SLOTS_PER_EPOCH);
  const fifth = await network.add([], [a, c], { anchor });
  while (!finalizedOf(network.nodes).every((each) => each >= healingEpoch)) await nextSlot(network.nodes);
  await network.untilSameHead();
  expect(fifth.chain.forkChoice.finalized).toEqual(a.chain.forkChoice.finalized);
  expect(network.nodes.flatMap(rejectionsOf)).toEqual([]);
});

it("two nodes with validators cross the fork to gloas, finalize, and agree on payloads", {
  timeout: 120_000,
}, async () => {
  const network = new TestNetwork({ validators: VALIDATORS, forks: FORKS, slotMs: 400 });
  const blobs = { min: 0, max: 1 };
  const first = await network.add(range(0, VALIDATORS / 2), [], { blobs });
  const second = await network.add(range(VALIDATORS / 2, VALIDATORS), [first], { blobs });
  await network.untilConnected();
  const preferences: number[] = [];
  second.chain.events.on("proposerPreferences", ({ message }) => preferences.push(message.validatorIndex));
  await network.runUntil(() => network.nodes.every(({ chain }) => chain.forkChoice.finalized.epoch > GLOAS_EPOCH));
  await network.untilSameHead();
  // On a busy machine, payloads can miss their deadline.
  expect(statuses(first)).toContain("full");
  expect(statuses(second)).toEqual(statuses(first));
  expect(preferences.some((validator) => validator < VALIDATORS / 2)).toBe(true);
  expect(network.nodes.flatMap(rejectionsOf)).toEqual([]);
});
