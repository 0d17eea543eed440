import { describe, expect, it } from "vitest";
import { PeerChain, root, rootHex, startOf } from "../../../test/support/network/peers/peer-chain.ts";
import { irrelevanceReason } from "./peer-relevance.ts";

describe("irrelevanceReason", () => {
  it("accepts a peer at the same position of the same chain, and at genesis", async () => {
    const chain = new PeerChain();
    expect(await irrelevanceReason(chain.status(), chain)).toBeUndefined();
    chain.slot = startOf(3);
    expect(await irrelevanceReason(chain.status(), chain)).toBeUndefined();
    expect(await irrelevanceReason(chain.status({ headSlot: 0 }), chain)).toBeUndefined();
  });

  it("rejects another network and another fork", async () => {
    const chain = new PeerChain({ slot: startOf(3) });
    const stranger = new PeerChain({ slot: startOf(3), genesis: 9 });
    const ahead = new PeerChain({ slot: startOf(5) });
    expect(await irrelevanceReason(stranger.status(), chain)).toMatch("fork digest");
    expect(await irrelevanceReason(ahead.status({ headSlot: 1 }), chain)).toMatch("fork digest");
  });

  it("tolerates a peer one slot before or after a fork", async () => {
    const before = new PeerChain({ slot: startOf(4) - 1 });
    const after = new PeerChain({ slot: startOf(4) });
    expect(await irrelevanceReason(after.status(), before)).toBeUndefined();
    expect(await irrelevanceReason(before.status(), after)).toBeUndefined();
    after.slot++;
    expect(await irrelevanceReason(before.status(), after)).toMatch("fork digest");
  });

  it("rejects a peer from the future", async () => {
    const chain = new PeerChain({ slot: 10 });
    expect(await irrelevanceReason(chain.status({ headSlot: 11 }), chain)).toBeUndefined();
    expect(await irrelevanceReason(chain.status({ headSlot: 12 }), chain)).toMatch("future");
    expect(await irrelevanceReason(chain.status({ headSlot: Number.POSITIVE_INFINITY }), chain)).toMatch("future");
    expect(await irrelevanceReason(chain.status({ finalizedEpoch: 3 }), chain)).toMatch("future");
  });

  it("compares the finalized blocks known to both", async () => {
    const chain = new PeerChain({ slot: startOf(9) });
    chain.finalizedCheckpoint = { epoch: 6, root: rootHex(6) };
    chain.roots.set(startOf(5), rootHex(5));
    const checked = (finalizedEpoch: number, seed: number) =>
      irrelevanceReason(chain.status({ finalizedEpoch, finalizedRoot: root(seed) }), chain);
    expect(await checked(6, 6)).toBeUndefined();
    expect(await checked(6, 7)).toMatch("finalized chain");
    expect(await checked(5, 5)).toBeUndefined();
    expect(await checked(5, 6)).toMatch("finalized chain");
    // A checkpoint that is not finalized here yet, and one before our history.
    expect(await checked(7, 1)).toBeUndefined();
    expect(await checked(4, 1)).toBeUndefined();
    expect(await checked(0, 1)).toBeUndefined();
  });

  it.each([0, 6])(
    "rejects a peer that has finalized another genesis while epoch %i is finalized here",
    async (epoch) => {
      const chain = new PeerChain({ slot: startOf(9) });
      chain.finalizedCheckpoint = { epoch, root: rootHex(6) };
      chain.roots.set(0, rootHex(3));
      const checked = (seed: number) => irrelevanceReason(chain.status({ finalizedRoot: root(seed) }), chain);
      expect(await checked(0)).toBeUndefined();
      // Some clients send the root of the genesis block instead of zeros.
      expect(await checked(3)).toBeUndefined();
      expect(await checked(7)).toMatch("finalized chain");
    },
  );
});
