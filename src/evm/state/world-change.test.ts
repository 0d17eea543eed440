import { Address } from "@ethereumjs/util";
import { beforeAll, describe, expect, it } from "vitest";
import { addressOf, sharedCrypto } from "../../../test/support/evm/evm.ts";
import type { Keccak } from "./trie.ts";
import { type World, WorldReader } from "./world.ts";
import { FollowingWorld, worldChanges } from "./world-change.ts";
import { WorldState } from "./world-state.ts";

const SEED = 7;
const ROUNDS = 300;

/** Deterministic pseudo-random numbers. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("world changes", () => {
  let keccak: Keccak;
  beforeAll(async () => {
    keccak = (await sharedCrypto()).keccak;
  });

  /** Returns a world with random changes to some accounts. */
  function changed(world: World, random: (below: number) => number): World {
    const state = new WorldState(keccak);
    state.open(world);
    for (let count = 1 + random(6); count > 0; count--) {
      const address = addressOf(random(40));
      const slot = new Uint8Array(32).fill(random(30));
      const action = random(5);
      if (action === 0) state.setAccount(address, {});
      else if (action === 1) state.updateAccount(address, { balance: BigInt(random(3)), nonce: BigInt(random(2)) });
      else if (action === 2) state.updateAccount(address, { code: new Uint8Array(random(3)).fill(1 + random(3)) });
      else {
        if (state.account(address) === undefined) state.setAccount(address, { nonce: 1n });
        state.setStorage(new Address(address), slot, Uint8Array.of(random(3)));
      }
    }
    return state.seal();
  }

  it("turn one world into another, whatever their distance and order", () => {
    const reader = new WorldReader(keccak);
    const random = generator(SEED);
    const worlds: World[] = [undefined];
    let current: World;
    const following = new FollowingWorld(undefined);
    for (let round = 0; round < ROUNDS; round++) {
      const next = changed(worlds[random(worlds.length)], random);
      worlds.push(next);
      for (const change of worldChanges(current, next)) following.apply(structuredClone(change));
      current = next;
      expect(reader.stateRoot(following.seal())).toEqual(reader.stateRoot(next));
    }
  });

  it("are few between worlds that share nodes", () => {
    const state = new WorldState(keccak);
    for (let index = 0; index < 500; index++) state.setAccount(addressOf(index), { balance: 1n });
    const before = state.seal();
    state.open(before);
    state.updateAccount(addressOf(7), { balance: 2n });
    expect([...worldChanges(before, state.seal())]).toHaveLength(1);
    expect([...worldChanges(before, before)]).toEqual([]);
  });
});
