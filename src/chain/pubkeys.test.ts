import { SecretKey } from "@chainsafe/blst";
import { createPubkeyCache } from "@lodestar/state-transition";
import { expect, it } from "vitest";
import { Pubkeys } from "./pubkeys.ts";

const keyOf = (n: number) => SecretKey.fromBytes(new Uint8Array(32).fill(n)).toPublicKey().toBytes();

it("knows keys anew that come to other places after they were forgotten", () => {
  const pubkeys = new Pubkeys(createPubkeyCache());
  for (const [index, n] of [1, 2, 3].entries()) pubkeys.set(index, keyOf(n));
  pubkeys.truncate(1);
  expect(pubkeys.size).toBe(1);
  expect([1, 2, 3].map((n) => pubkeys.getIndex(keyOf(n)))).toEqual([0, null, null]);
  expect(pubkeys.get(1)).toBeUndefined();
  expect(() => pubkeys.getOrThrow(2)).toThrow("no validator 2");

  pubkeys.set(1, keyOf(3));
  expect([1, 2, 3].map((n) => pubkeys.getIndex(keyOf(n)))).toEqual([0, null, 1]);
  expect(pubkeys.getOrThrow(1).toBytes()).toEqual(keyOf(3));
  pubkeys.truncate(5);
  expect(pubkeys.size).toBe(2);
});
