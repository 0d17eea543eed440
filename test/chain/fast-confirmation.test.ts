import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it, vi } from "vitest";
import { executionHashOf } from "../../src/chain/engine/forkchoice-state.ts";
import { DEFAULT_CHAIN_SETTINGS } from "../../src/chain/settings.ts";
import type { DevNodeOptions } from "../../src/node/dev-node.ts";
import { advance, openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const OPTIONS = { validators: 32, speed: 0, forks: [{ fork: "electra", epoch: 0 }] } satisfies Partial<DevNodeOptions>;
const GLOAS = { ...OPTIONS, forks: [{ fork: "gloas", epoch: 0 }] } satisfies Partial<DevNodeOptions>;
const FIRST_CONFIRMING_EPOCH = 4;

interface Confirmed {
  root: string;
  slot: number;
  currentSlot: number;
}

async function open(options: Partial<DevNodeOptions>, directory?: string) {
  const opened = await openDevChain(options, directory);
  const { devChain } = opened;
  const events: Confirmed[] = [];
  devChain.chain.events.on("fastConfirmation", (event) => events.push(event));
  return { ...opened, devChain, chain: devChain.chain, events };
}

it.each([
  ["fulu", OPTIONS],
  ["gloas", GLOAS],
])("confirms the block of the previous slot if all validators vote, on %s", async (_, options) => {
  const { devChain, chain, events, node, complaints } = await open(options);
  const update = vi.spyOn(node.source.engine, "forkchoiceUpdated");
  const lastSlot = (FIRST_CONFIRMING_EPOCH + 2) * SLOTS_PER_EPOCH;
  await advance(devChain, lastSlot);
  expect(events.map(({ currentSlot }) => currentSlot)).toEqual(Array.from({ length: lastSlot }, (_, i) => i + 1));
  const late = events.filter(({ currentSlot }) => currentSlot >= FIRST_CONFIRMING_EPOCH * SLOTS_PER_EPOCH);
  expect(late.map(({ slot }) => slot)).toEqual(late.map(({ currentSlot }) => currentSlot - 1));
  const { root, slot } = late.at(-1)!;
  expect(chain.forkChoice.canonicalAtSlot(slot)?.root).toBe(root);
  expect(chain.forkChoice.safeRoot).toBe(root);
  const safe = executionHashOf(chain.forkChoice, { root, payloadStatus: "empty" });
  expect(update.mock.lastCall![1].safeBlockHash).toBe(safe);
  expect(complaints).toEqual([]);
});

it("falls back to the finalized block without votes, and begins again with them", async () => {
  const directory = tempDirectory();
  const before = await open(OPTIONS, directory);
  await advance(before.devChain, 5 * SLOTS_PER_EPOCH);
  await before.close();

  const silent = await open({ ...OPTIONS, ...QUIET }, directory);
  expect(silent.chain.forkChoice.safeRoot).toBe(silent.chain.forkChoice.finalized.root);
  await advance(silent.devChain, 7 * SLOTS_PER_EPOCH);
  expect(new Set(silent.events.map(({ root }) => root))).toEqual(new Set([silent.chain.forkChoice.finalized.root]));
  await silent.close();

  const { devChain, chain, events } = await open(OPTIONS, directory);
  await advance(devChain, 13 * SLOTS_PER_EPOCH);
  expect(events.at(0)!.root).not.toBe(chain.head.parentRoot);
  expect(events.at(-1)!.slot).toBe(13 * SLOTS_PER_EPOCH - 1);
});

it("confirms no further block while half of the validators are offline, and begins again with the epoch", async () => {
  const { devChain, chain, events } = await open(OPTIONS);
  const lastSlot = 6 * SLOTS_PER_EPOCH;
  await advance(devChain, lastSlot - 5);
  const { slot } = events.at(-1)!;
  await devChain.control.validators.setOffline({ ranges: [{ first: 0, last: 15 }] });
  await advance(devChain, lastSlot - 1);
  expect(events.at(-1)!.slot).toBeLessThanOrEqual(slot + 1);
  await advance(devChain, lastSlot);
  expect(events.at(-1)!.root).toBe(chain.forkChoice.finalized.root);
});

it("loses a confirmed block that is reorged", async () => {
  const { devChain, chain, events } = await open(OPTIONS);
  await advance(devChain, 5 * SLOTS_PER_EPOCH + 2);
  const confirmed = chain.forkChoice.safeRoot;
  const finalized = chain.forkChoice.finalized.root;
  const count = events.length;
  await devChain.control.branches.reorg(2);
  expect(chain.forkChoice.isDescendant(confirmed, chain.head.root)).toBe(false);
  await advance(devChain, chain.clock.currentSlot + 1);
  expect(events.slice(count).map(({ root }) => root)).toContain(finalized);
});

it("continues after a revert to a snapshot", async () => {
  const { devChain, chain, events } = await open(OPTIONS);
  await advance(devChain, 5 * SLOTS_PER_EPOCH);
  const { safeRoot, currentSlot } = chain.forkChoice;
  const snapshot = await devChain.control.snapshots.take();
  await advance(devChain, currentSlot + 3);
  expect(chain.forkChoice.safeRoot).not.toBe(safeRoot);
  await devChain.control.snapshots.revert(snapshot);
  expect(chain.forkChoice.safeRoot).toBe(safeRoot);
  await advance(devChain, currentSlot + 2);
  expect(events.at(-1)!.slot).toBe(currentSlot + 1);
});

it("is turned off by a setting: the justified block is safe", async () => {
  const { devChain, chain, events } = await open({
    ...OPTIONS,
    chain: { ...DEFAULT_CHAIN_SETTINGS, fastConfirmation: false },
  });
  await advance(devChain, 4 * SLOTS_PER_EPOCH);
  expect(events).toEqual([]);
  expect(chain.forkChoice.safeRoot).toBe(chain.forkChoice.justified.root);
  expect(chain.justifiedCheckpoint.epoch).toBeGreaterThan(0);
});
