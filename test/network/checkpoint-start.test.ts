import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { fulu } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { beforeAll, expect, it, vi } from "vitest";
import { variants } from "../support/suite/tier.ts";
import { range, TestNetwork, until } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

vi.setConfig({ testTimeout: 120_000 });

const HISTORY_EPOCHS = 12;
const VALIDATORS = 16;
/** The first slot of an epoch, hence a checkpoint. */
const EMPTY_SLOT = 8 * SLOTS_PER_EPOCH;

let network: TestNetwork;
let source: TestNode;
const ends: (() => Promise<void>)[] = [];
beforeAll(async () => {
  network = new TestNetwork({ validators: VALIDATORS, cleanUp: (end) => ends.push(end) });
  source = await network.add(range(0, VALIDATORS), [], {
    timing: "lockstep",
    restsAt: [EMPTY_SLOT],
    authority: "sole",
  });
  await network.clock.advanceTo(HISTORY_EPOCHS * SLOTS_PER_EPOCH);
  expect(source.chain.forkChoice.finalized.epoch).toBe(HISTORY_EPOCHS - 2);
  return async () => {
    for (const end of ends.reverse()) await end();
  };
});

const ANCHORS = variants<[name: string, slot: number]>({
  fast: [
    ["the first slot of an epoch", 6 * SLOTS_PER_EPOCH],
    ["an empty checkpoint slot", EMPTY_SLOT],
  ],
  full: [
    ["the middle of an epoch", 6 * SLOTS_PER_EPOCH - 3],
    ["the last slot of an epoch", 6 * SLOTS_PER_EPOCH - 1],
    ["the slot before an empty checkpoint slot", EMPTY_SLOT - 1],
  ],
});

it.each(ANCHORS)(
  "a node that starts from a state of %s syncs, and never tells a checkpoint that does not exist",
  async (_, slot) => {
    const anchor = (await source.chain.states.canonicalAtSlot(slot))!;
    const node = await network.add([], [source], { anchor });
    const { peers } = source.networking.network;
    await until(
      (wake) => peers.onChange(wake),
      () => statusOf(node) !== undefined,
    );
    await expectCheckpoint(statusOf(node)!);

    await network.untilSameHead([source, node]);
    expect(node.chain.forkChoice.finalized).toEqual(source.chain.forkChoice.finalized);
    await node.close();
  },
);

/** Self-reported status of the node. */
const statusOf = ({ peerId }: TestNode) =>
  source.networking.network.peers.list().find((peer) => peer.peerId === peerId)?.status;

async function expectCheckpoint({ finalizedEpoch, finalizedRoot }: fulu.Status): Promise<void> {
  const root = await source.chain.blocks.rootAtOrBefore(computeStartSlotAtEpoch(finalizedEpoch));
  expect(toRootHex(finalizedRoot)).toBe(root);
}
