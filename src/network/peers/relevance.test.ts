import { describe, expect, it } from "vitest";
import { PeerChain, root, rootHex, startOf } from "./peer-chain.test-support.ts";
import { irrelevance } from "./relevance.ts";

describe("the relevance of a peer", () => {
  it("is given at the same place of the same chain, and at genesis", async () => {
    const chain = new PeerChain();
    expect(await irrelevance(chain.status(), chain)).toBeUndefined();
    chain.slot = startOf(3);
    expect(await irrelevance(chain.status(), chain)).toBeUndefined();
    expect(await irrelevance(chain.status({ headSlot: 0 }), chain)).toBeUndefined();
  });

  it("is not given on another network or another fork", async () => {
    const chain = new PeerChain({ slot: startOf(3) });
    const stranger = new PeerChain({ slot: startOf(3), genesis: 9 });
    const ahead = new PeerChain({ slot: startOf(5) });
    expect(await irrelevance(stranger.status(), chain)).toMatch("fork digest");
    expect(await irrelevance(ahead.status({ headSlot: 1 }), chain)).toMatch("fork digest");
  });

  it("bears a peer that is a slot before or after the fork", async () => {
    const before = new PeerChain({ slot: startOf(4) - 1 });
    const after = new PeerChain({ slot: startOf(4) });
    expect(await irrelevance(after.status(), before)).toBeUndefined();
    expect(await irrelevance(before.status(), after)).toBeUndefined();
    after.slot++;
    expect(await irrelevance(before.status(), after)).toMatch("fork digest");
  });

  it("is not given to a peer from the future", async () => {
    const chain = new PeerChain({ slot: 10 });
    expect(await irrelevance(chain.status({ headSlot: 11 }), chain)).toBeUndefined();
    expect(await irrelevance(chain.status({ headSlot: 12 }), chain)).toMatch("future");
    expect(await irrelevance(chain.status({ headSlot: Number.POSITIVE_INFINITY }), chain)).toMatch("future");
    expect(await irrelevance(chain.status({ finalizedEpoch: 3 }), chain)).toMatch("future");
  });

  it("is decided by the finalized block where both have one", async () => {
    const chain = new PeerChain({ slot: startOf(9) });
    chain.finalizedCheckpoint = { epoch: 6, root: rootHex(6) };
    chain.roots.set(startOf(5), rootHex(5));
    const checked = (finalizedEpoch: number, seed: number) =>
      irrelevance(chain.status({ finalizedEpoch, finalizedRoot: root(seed) }), chain);
    expect(await checked(6, 6)).toBeUndefined();
    expect(await checked(6, 7)).toMatch("finalized chain");
    expect(await checked(5, 5)).toBeUndefined();
    expect(await checked(5, 6)).toMatch("finalized chain");
    // Not yet finalized here, and older than what is held.
    expect(await checked(7, 1)).toBeUndefined();
    expect(await checked(4, 1)).toBeUndefined();
    expect(await checked(0, 1)).toBeUndefined();
  });

  it.each([0, 6])(
    "is not given to a peer that has finalized another genesis, where epoch %i is final",
    async (epoch) => {
      const chain = new PeerChain({ slot: startOf(9) });
      chain.finalizedCheckpoint = { epoch, root: rootHex(6) };
      chain.roots.set(0, rootHex(3));
      const checked = (seed: number) => irrelevance(chain.status({ finalizedRoot: root(seed) }), chain);
      expect(await checked(0)).toBeUndefined();
      // Some tell the root of the genesis block instead of zeros.
      expect(await checked(3)).toBeUndefined();
      expect(await checked(7)).toMatch("finalized chain");
    },
  );
});
