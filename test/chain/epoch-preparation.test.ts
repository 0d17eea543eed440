import { cpSync } from "node:fs";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { expect, it, onTestFinished, vi } from "vitest";
import { makeHistory, startDevChain } from "../support/chain/dev-chain.ts";
import { openStoredChain, storedChain } from "../support/chain/stored-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";

const LAST_OF_EPOCH = 2 * SLOTS_PER_EPOCH - 1;
const HEAD = LAST_OF_EPOCH - 1;

/** A node without validators, one slot before the last of an epoch, and the next two blocks. */
async function openChain() {
  const options = { validators: 16, forks: [{ fork: "fulu", epoch: 0 } as const] };
  const directory = tempDirectory();
  await makeHistory(HEAD, options, directory);
  const elsewhere = tempDirectory();
  cpSync(directory, elsewhere, { recursive: true });
  const { devChain, close } = await startDevChain(options, elsewhere);
  await devChain.clock.advanceTo(LAST_OF_EPOCH + 1);
  const blockAt = async (slot: number) => (await devChain.chain.blocks.canonicalAtSlot(slot))!;
  const blocks = { last: await blockAt(LAST_OF_EPOCH), first: await blockAt(LAST_OF_EPOCH + 1) };
  await close();
  const opened = await openStoredChain(storedChain(directory, devChain), { slot: HEAD });
  onTestFinished(() => opened.clock.stop());
  opened.chain.start();
  return { ...opened, ...blocks };
}

it("the first state of an epoch is prepared in advance, again for a late head, and used by the first block", async () => {
  const { chain, clock, last, first, complaints, close } = await openChain();
  const { states } = chain;
  const start = LAST_OF_EPOCH + 1;
  const oldHead = chain.head.root;
  expect(states.cached(oldHead, start)).toBeUndefined();

  await clock.advanceTo(LAST_OF_EPOCH);
  expect(states.cached(oldHead, start)?.slot).toBe(start);

  await chain.importBlock(last.signed);
  await vi.waitFor(() => expect(states.cached(last.root, start)).toBeDefined());
  const prepared = states.cached(last.root, start)!;
  const { headState } = chain;
  expect([headState.clonedCount, prepared.clonedCount]).toEqual([1, 0]);
  // Nothing has changed since.
  await chain.refreshHead();

  await clock.advanceTo(start);
  await chain.importBlock(first.signed);
  expect(chain.head.root).toBe(first.root);
  expect([headState.clonedCount, prepared.clonedCount]).toEqual([1, 1]);
  expect(complaints).toEqual([]);
  await close();
});

it("an epoch that is more than one transition away is not prepared", async () => {
  const { chain, clock, close } = await openChain();
  const { root } = chain.head;
  const start = LAST_OF_EPOCH + 1;
  await clock.advanceTo(start + SLOTS_PER_EPOCH);
  expect(chain.states.cached(root, start)).toBeDefined();
  expect(chain.states.cached(root, start + SLOTS_PER_EPOCH)).toBeUndefined();
  await close();
});
