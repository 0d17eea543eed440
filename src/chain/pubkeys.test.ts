import { SecretKey } from "@chainsafe/blst";
import { createPubkeyCache } from "@lodestar/state-transition";
import { expect, it } from "vitest";
import { Pubkeys } from "./pubkeys.ts";

const keyOf = (n: number) => SecretKey.fromBytes(new Uint8Array(32).fill(n)).toPublicKey().toBytes();
const indicesIn = (pubkeys: Pubkeys) => [1, 2, 3].map((n) => pubkeys.getIndex(keyOf(n)));

it("knows keys anew that come to other places after it went back", () => {
  const pubkeys = new Pubkeys(createPubkeyCache());
  pubkeys.set(0, keyOf(1));
  const moment = pubkeys.capture();
  pubkeys.set(1, keyOf(2));
  pubkeys.set(2, keyOf(3));
  expect(indicesIn(pubkeys)).toEqual([0, 1, 2]);
  pubkeys.restore(moment);
  expect(pubkeys.size).toBe(1);
  expect(indicesIn(pubkeys)).toEqual([0, null, null]);
  expect(pubkeys.get(1)).toBeUndefined();
  expect(() => pubkeys.getOrThrow(2)).toThrow("no validator 2");

  pubkeys.set(1, keyOf(3));
  expect(indicesIn(pubkeys)).toEqual([0, null, 1]);
  expect(pubkeys.getOrThrow(1).toBytes()).toEqual(keyOf(3));
});

it("takes over what another one knows, and hears of what is told to that one", () => {
  const [pubkeys, others] = [new Pubkeys(createPubkeyCache()), new Pubkeys(createPubkeyCache())];
  pubkeys.set(0, keyOf(1));
  pubkeys.set(1, keyOf(2));
  others.set(0, keyOf(1));
  const own = pubkeys.capture();
  pubkeys.restore(others.capture());
  others.set(1, keyOf(3));
  expect(indicesIn(pubkeys)).toEqual([0, null, 1]);
  pubkeys.restore(own);
  expect(indicesIn(pubkeys)).toEqual([0, 1, null]);
});
