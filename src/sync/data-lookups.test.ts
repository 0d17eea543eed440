import { describe, expect, it } from "vitest";
import { FakePeers, type ServedBlock } from "../../test/support/sync/fake-peers.ts";
import {
  believeProofs,
  committingHistory,
  openFollower,
  untilHead,
  withWrongProof,
} from "../../test/support/sync/history.ts";

const SLOTS = 5;
/** Peers without a chain status, so only gossip matters. */
const SILENT = { status: { headSlot: 0, headRoot: new Uint8Array(32) } };

async function openAt(slot: number, peers: FakePeers, fork: "electra" | "fulu") {
  const history = await committingHistory(fork, SLOTS);
  const follower = await openFollower(peers, slot, { fork });
  believeProofs(follower.chain);
  follower.sync.start();
  return { ...follower, history, first: history[0]!, second: history[1]! };
}

const withoutData = (history: readonly ServedBlock[]) => history.map(({ root, signed }) => ({ root, signed }));

describe.each(["electra", "fulu"] as const)("an %s block that waits for its data", (fork) => {
  it("has it requested after the gossip period, from other peers after a wrong or empty response", async () => {
    const peers = new FakePeers();
    const { chain, clock, history, first } = await openAt(1, peers, fork);
    peers.add("wrong", history, { ...SILENT, score: 3, data: async (honest) => honest.map(withWrongProof) });
    peers.add("lacking", withoutData(history), { ...SILENT, score: 2 });
    peers.add("honest", history, { ...SILENT, score: 1 });
    chain.data.pool.add({ slot: 1, root: first.root }, first.sidecars!.slice(0, 1));

    await expect(chain.importBlock(first.signed, { waitsForData: false })).rejects.toThrow("are missing");
    expect(peers.data).toEqual([]);
    await clock.advanceTo(2);
    await untilHead(chain, first.root);

    const indices = first.sidecars!.slice(1).map(({ index }) => index);
    expect(peers.data).toEqual(
      ["wrong", "lacking", "honest"].map((peerId) => ({ peerId, roots: [first.root], indices })),
    );
    expect(peers.penalties).toMatchObject([{ peerId: "wrong", severity: "severe" }]);
  });

  it("tries all peers even if many claim the data and serve nothing", async () => {
    const peers = new FakePeers();
    const { chain, clock, history, first } = await openAt(1, peers, fork);
    for (let index = 0; index < 20; index++) {
      peers.add(`claiming ${index}`, withoutData(history), { ...SILENT, score: 2 });
    }
    peers.add("honest", history, { ...SILENT, score: 1 });
    await expect(chain.importBlock(first.signed, { waitsForData: false })).rejects.toThrow("are missing");
    for (let slot = 2; slot <= 4; slot++) {
      await clock.advanceTo(slot);
      await expect.poll(() => peers.data.length).toBeGreaterThanOrEqual(Math.min(8 * (slot - 1), 21));
    }
    await untilHead(chain, first.root);
  });

  it("holds its descendants, is not requested again, and its data is requested every slot", async () => {
    const peers = new FakePeers();
    const { chain, clock, sync, history, first, second } = await openAt(2, peers, fork);
    peers.add("sender", withoutData(history), SILENT);

    sync.onUnknownParent(second.signed, "sender");
    await expect.poll(() => chain.isWaitingForData(first.root)).toBe(true);
    await clock.advanceTo(4);
    sync.onUnknownBlock(first.root, "sender");
    await expect.poll(() => peers.data.length).toBeGreaterThan(1);
    expect(chain.head.slot).toBe(0);

    peers.add("honest", history, SILENT);
    await clock.advanceTo(5);
    // The data of the second block may arrive in the same slot.
    const isSecondNext = () => chain.isWaitingForData(second.root) || chain.head.root === second.root;
    await expect.poll(isSecondNext).toBe(true);
    await clock.advanceTo(6);
    await untilHead(chain, second.root);
    expect(peers.roots).toEqual([{ peerId: "sender", root: first.root }]);
    expect(peers.penalties).toEqual([]);
  });

  it("is retried as soon as a request that outlasted the slot has failed", async () => {
    const peers = new FakePeers();
    const { chain, clock, history, first } = await openAt(1, peers, fork);
    const answer = Promise.withResolvers<void>();
    let isThere = false;
    peers.add("late", history, { ...SILENT, score: 2, data: async (honest) => (isThere ? honest : []) });
    peers.add("slow", history, { ...SILENT, score: 1, data: () => answer.promise.then(() => []) });

    await expect(chain.importBlock(first.signed, { waitsForData: false })).rejects.toThrow("are missing");
    await clock.advanceTo(2);
    await expect.poll(() => peers.data.map(({ peerId }) => peerId)).toEqual(["late", "slow"]);
    isThere = true;
    await clock.advanceTo(3);
    answer.resolve();
    await untilHead(chain, first.root);
  });
});
