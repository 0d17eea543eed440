import { Address } from "@ethereumjs/util";
import { expect, it } from "vitest";
import { addressOf, optionsOf, TestChain } from "../../../test/support/evm/evm.ts";
import { ExecutedBlocks } from "../engine/executed-blocks.ts";
import type { ExecutedBlock } from "../execution/block.ts";
import { toHex } from "../execution/payload.ts";
import { CanonicalIndex } from "./canonical-index.ts";

/** Builds a trunk of two blocks with two branches on top, one of two blocks and one of three. */
async function branches() {
  const chain = await TestChain.open(optionsOf("osaka"));
  const blocks = new ExecutedBlocks(chain.genesis);
  const transaction = chain.sign(0, { to: new Address(addressOf(5)), value: 1n, gasLimit: 21_000n });
  const build = async (...args: Parameters<typeof chain.build>) => {
    const block = await chain.build(...args);
    blocks.add(block);
    return block;
  };
  const trunk = [await build(), await build()];
  const left = [await build([transaction]), await build()];
  chain.head = trunk[1]!;
  const other = { feeRecipient: addressOf(7) };
  const right = [await build([], other), await build([], other), await build([transaction], other)];
  return { index: new CanonicalIndex(blocks), trunk, left, right, hash: toHex(transaction.hash) };
}

const hashes = (of: readonly ExecutedBlock[]) => of.map(({ hash }) => toHex(hash));

it("a new head adds blocks from the oldest, and removes those of the other branch from the newest", async () => {
  const { index, trunk, left, right, hash } = await branches();
  expect(hashes(index.follow(left[1]!).added)).toEqual(hashes([...trunk, ...left]));
  expect([index.latest, index.numberOfTransaction(hash)]).toEqual([4n, 3n]);
  const { removed, added } = index.follow(right[2]!);
  expect(hashes(removed)).toEqual(hashes(left.toReversed()));
  expect(hashes(added)).toEqual(hashes(right));
  expect([index.latest, index.numberOfTransaction(hash)]).toEqual([5n, 5n]);
  // Switches to a shorter branch.
  const back = index.follow(left[1]!);
  expect(hashes(back.removed)).toEqual(hashes(right.toReversed()));
  expect(hashes(back.added)).toEqual(hashes(left));
  expect([index.hashAt(5n), index.numberOfTransaction(hash)]).toEqual([undefined, 3n]);
});

it("an ancestor as the head removes blocks from the newest, and adds none", async () => {
  const { index, trunk, left, hash } = await branches();
  index.follow(left[1]!);
  const { removed, added } = index.follow(trunk[0]!);
  expect(hashes(removed)).toEqual(hashes([left[1]!, left[0]!, trunk[1]!]));
  expect(added).toEqual([]);
  expect([index.latest, index.hashAt(2n), index.numberOfTransaction(hash)]).toEqual([1n, undefined, undefined]);
});
