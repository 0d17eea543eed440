import { setImmediate as nextTurn } from "node:timers/promises";
import { type phase0, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { ByHand } from "../../test/support/chain/by-hand.ts";
import { startQuietDevChain } from "../../test/support/chain/dev-chain.ts";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import { FakePeers, type ServedBlock } from "../../test/support/sync/fake-peers.ts";
import { blocksOf, GENESIS_TIME, growBranch, openFollower, untilHead } from "../../test/support/sync/history.ts";
import { BlockHandler } from "../network/gossip/block-handler.ts";
import type { ReceivedMessage } from "../network/gossip/message-types.ts";
import { MAX_DEPTH } from "./unknown-block-sync.ts";

const SLOTS = 42;

let history: ServedBlock[];

beforeAll(async () => {
  const { devChain, close } = await startQuietDevChain(SLOTS, { genesisTime: GENESIS_TIME });
  history = await blocksOf(devChain);
  await close();
});

/** Most tests run near the head of a short chain. */
const NEAR = 12;

/** A peer without a chain status, so only gossip matters. */
const SILENT = { status: { headSlot: 0, headRoot: new Uint8Array(32) } };

/** Returns a copy of the block with a different signature, which its root does not cover. */
function forged({ root, signed }: ServedBlock): ServedBlock {
  return { root, signed: { ...signed, signature: history[0]!.signed.signature } };
}

async function openNearHead(peers: FakePeers, missing: number) {
  const follower = await openFollower(peers, NEAR, { has: history.slice(0, NEAR - missing) });
  follower.sync.start();
  const byHand = new ByHand(follower.devChain);
  /** An invalid block signed by a validator that is not the proposer. */
  const invalid = (slot: number, parentRoot: string, mark = 0): ServedBlock => {
    const block = ssz.phase0.BeaconBlock.defaultValue();
    return byHand.sign({
      ...block,
      slot,
      parentRoot: fromHex(parentRoot),
      stateRoot: new Uint8Array(32).fill(mark),
    });
  };
  return { ...follower, invalid, tip: history[NEAR - 1]! };
}

describe("missing blocks", () => {
  it("the ancestors of a block are fetched one by one, each once, and imported with it", async () => {
    const peers = new FakePeers();
    peers.add("sender", history, SILENT);
    peers.add("other", history, SILENT);
    const { chain, sync, tip } = await openNearHead(peers, 6);

    sync.onUnknownParent(tip.signed, "sender");
    sync.onUnknownParent(tip.signed, "other");
    sync.onUnknownBlock(tip.root, "other");
    await untilHead(chain, tip.root);

    const parents = history.slice(NEAR - 6, NEAR - 1).map(({ root }) => root);
    expect(peers.roots).toEqual(parents.reverse().map((root) => ({ peerId: "sender", root })));
    expect(peers.ranges).toEqual([]);
    expect(peers.penalties).toEqual([]);
  });

  it("requests for ancestors grow if the peer supports BeaconBlocksByHead", async () => {
    const peers = new FakePeers();
    peers.add("sender", history, { ...SILENT, givesAncestors: true });
    const { chain, sync, tip } = await openNearHead(peers, 6);

    sync.onUnknownParent(tip.signed, "sender");
    await untilHead(chain, tip.root);

    const rootOf = (slot: number) => history[slot - 1]!.root;
    expect(peers.ancestries).toEqual([
      { peerId: "sender", root: rootOf(NEAR - 1), count: 1 },
      { peerId: "sender", root: rootOf(NEAR - 2), count: 2 },
      { peerId: "sender", root: rootOf(NEAR - 4), count: 4 },
    ]);
    expect(peers.roots).toEqual([]);
    expect(peers.penalties).toEqual([]);
  });

  it("a timely block does not become late by waiting for its parent", async () => {
    const peers = new FakePeers();
    peers.add("sender", history, SILENT);
    const { chain, sync, tip } = await openNearHead(peers, 2);
    const { clock } = chain;
    vi.spyOn(clock, "nowSeconds").mockImplementation(() => {
      return clock.slotStartSeconds(NEAR) + (peers.roots.length === 0 ? 0 : clock.secondsPerSlot / 2);
    });

    sync.onUnknownParent(tip.signed, "sender");
    await untilHead(chain, tip.root);

    expect(chain.forkChoice.proposerBoostRoot).toBe(tip.root);
  });

  it("the block of an attestation is requested from other peers if its sender does not have it", async () => {
    const peers = new FakePeers();
    peers.add("boaster", [], SILENT);
    peers.add("failing", history, { ...SILENT, byRoot: () => Promise.reject(new Error("The peer does not answer.")) });
    peers.add("honest", history, SILENT);
    const { chain, sync, tip } = await openNearHead(peers, 1);

    sync.onUnknownBlock(tip.root, "boaster");
    await untilHead(chain, tip.root);

    expect(peers.penalties.map(({ peerId, severity }) => [peerId, severity])).toEqual([["boaster", "mild"]]);
  });

  it("misbehaving peers that reference a block do not exhaust its lookup", async () => {
    const peers = new FakePeers();
    for (const peerId of ["a", "b", "c", "d", "e"]) peers.add(peerId, [], { ...SILENT, score: -1 });
    peers.add("good", history, SILENT);
    const { chain, sync, tip } = await openNearHead(peers, 1);

    for (const peerId of ["a", "b", "c", "d", "e"]) sync.onUnknownBlock(tip.root, peerId);
    await untilHead(chain, tip.root);

    expect(peers.roots).toEqual([{ peerId: "good", root: tip.root }]);
  });

  it("an unknown head of a peer near ours is fetched", async () => {
    const peers = new FakePeers();
    const { chain, sync, clock, tip } = await openNearHead(peers, 1);
    await clock.advanceTo(NEAR + 1);
    peers.add("honest", history.slice(0, NEAR));
    await untilHead(chain, tip.root);
    expect(sync.isSyncing).toBe(false);
    expect(peers.ranges).toEqual([]);
  });

  it("a block received during range sync waits for its parents without new requests", async () => {
    const peers = new FakePeers();
    const { chain, sync } = await openFollower(peers, NEAR, { has: history.slice(0, NEAR - 6) });
    const { promise: giving, resolve: give } = Promise.withResolvers<void>();
    const byRange = (blocks: SignedBeaconBlock[]) => giving.then(() => blocks);
    peers.add("honest", history.slice(0, NEAR - 1), { byRange });
    sync.start();
    const tip = history[NEAR - 1]!;
    sync.onUnknownParent(tip.signed, "honest");
    expect(chain.head.slot).toBe(NEAR - 6);
    give();
    await untilHead(chain, tip.root);
    expect(peers.roots).toEqual([]);
  });

  it("a forged copy does not replace the genuine block", async () => {
    const peers = new FakePeers();
    const answer = Promise.withResolvers<phase0.SignedBeaconBlock[]>();
    peers.add("slow", history, { ...SILENT, byRoot: () => answer.promise });
    const { chain, sync, tip } = await openNearHead(peers, 2);
    const handler = new BlockHandler({ chain, unknownBlocks: sync, reporter: peers, logger: createRecordingLogger() });
    const handle = async ({ signed: object }: ServedBlock, peerId: string) => {
      const report = vi.fn<ReceivedMessage["report"]>();
      handler.handle({ object, peerId, report } as unknown as ReceivedMessage<"beacon_block">);
      await handler.close();
      return report.mock.calls[0]?.[0];
    };

    expect(await handle(forged(tip), "forger")).toBe("reject");
    expect(await handle(tip, "honest")).toBe("ignore");
    expect(await handle(history[NEAR - 2]!, "honest")).toBe("accept");
    await untilHead(chain, tip.root);
    answer.resolve([]);
  });

  it("a forged block by root is requested from another peer, and its descendants keep waiting", async () => {
    const peers = new FakePeers();
    const { chain, sync, tip } = await openNearHead(peers, 3);
    const [grandparent, parent] = history.slice(NEAR - 3, NEAR - 1);
    peers.add("forger", [grandparent!, forged(parent!)], SILENT);
    peers.add("another", [forged(grandparent!), parent!], { ...SILENT, givesAncestors: true });
    peers.add("honest", history, SILENT);

    sync.onUnknownParent(tip.signed, "forger");
    await untilHead(chain, tip.root);

    expect(peers.penalties.map(({ peerId, severity }) => [peerId, severity])).toEqual([
      ["forger", "severe"],
      ["another", "severe"],
    ]);
  });

  it("a long branch is left to range sync", async () => {
    const peers = new FakePeers();
    const { chain, sync, devChain } = await openFollower(peers, SLOTS, { has: history.slice(0, 3) });
    const own = await growBranch(devChain, history[2]!.root, { from: 5, to: SLOTS - 1 });
    expect(chain.head.root).toBe(own.at(-1)!.root);
    peers.add("sender", history, SILENT);
    sync.start();

    sync.onUnknownParent(history.at(-1)!.signed, "sender");
    await untilHead(chain, history.at(-1)!.root);

    expect(peers.roots).toHaveLength(MAX_DEPTH);
    expect(peers.ranges.length).toBeGreaterThan(0);
    expect(peers.penalties).toEqual([]);
  });

  it("a known invalid block and its descendants are not validated again", async () => {
    const peers = new FakePeers();
    const { chain, sync, invalid } = await openNearHead(peers, 3);
    const before = chain.head;
    const bad = invalid(before.slot + 1, before.root);
    const child = invalid(before.slot + 2, bad.root);
    const first = invalid(before.slot + 2, bad.root, 1);
    const second = invalid(before.slot + 3, first.root);
    const third = invalid(before.slot + 4, second.root);
    peers.add("servingPeer", [bad, first, second], { ...SILENT, givesAncestors: true });
    sync.onUnknownParent(child.signed, "sender");
    await peers.untilPenalties(() => peers.penalties.length === 2);
    const requestsBefore = peers.ancestries.length;

    sync.onUnknownParent(third.signed, "another");
    await peers.untilPenalties(() => peers.penaltiesOf("another").length === 1);
    expect(peers.penaltiesOf("servingPeer")).toEqual(["severe", "moderate"]);
    expect(peers.ancestries.slice(requestsBefore)).toEqual([
      { peerId: "servingPeer", root: second.root, count: 1 },
      { peerId: "servingPeer", root: first.root, count: 2 },
    ]);
    expect(chain.head.root).toBe(before.root);
  });

  it("an invalid ancestor penalizes all senders, and is never fetched again", async () => {
    const peers = new FakePeers();
    const { chain, sync, log, invalid } = await openNearHead(peers, 3);
    const before = chain.head;
    const bad = invalid(before.slot + 1, before.root);
    const child = invalid(before.slot + 2, bad.root);
    peers.add("servingPeer", [bad], SILENT);
    peers.add("sender", [], SILENT);

    sync.onUnknownParent(child.signed, "sender");
    await peers.untilPenalties(() => peers.penalties.length === 3);
    expect(peers.penaltiesOf("servingPeer")).toEqual(["severe"]);
    expect(peers.penaltiesOf("sender")).toEqual(["mild", "moderate"]);
    const requestsBefore = peers.roots.length;

    sync.onUnknownParent(invalid(before.slot + 3, child.root).signed, "newcomer");
    sync.onUnknownBlock(bad.root, "voter");
    expect(peers.penaltiesOf("newcomer")).toEqual(["moderate"]);
    expect(peers.penaltiesOf("voter")).toEqual(["moderate"]);
    expect(peers.roots).toHaveLength(requestsBefore);
    expect(chain.head.root).toBe(before.root);
    const refused = log.flatMap(
      (line) => /WARN .* slot=(\d+) .* peer=(\w+) reason=(\S+)/.exec(line)?.slice(1).join(" ") ?? [],
    );
    expect(refused).toEqual([
      `${before.slot + 1} servingPeer wrong-proposer`,
      `${before.slot + 2} sender invalid-parent`,
      `${before.slot + 3} newcomer invalid-parent`,
    ]);
  });

  it("a block that arrives by other means imports its pending descendants", async () => {
    const peers = new FakePeers();
    const { chain, sync, tip } = await openNearHead(peers, 2);
    const answer = Promise.withResolvers<phase0.SignedBeaconBlock[]>();
    peers.add("slow", history, { ...SILENT, byRoot: () => answer.promise });
    sync.onUnknownParent(tip.signed, "slow");

    await chain.importBlock(history[NEAR - 2]!.signed);
    await untilHead(chain, tip.root);
    answer.resolve([]);
  });

  it("lookups of nonexistent blocks are bounded", async () => {
    const peers = new FakePeers();
    peers.add("flooder", [], SILENT);
    peers.add("witness", [], SILENT);
    const { sync, chain, clock, invalid } = await openNearHead(peers, 2);
    const { head } = chain;

    for (let i = 0; i < 100; i++) {
      sync.onUnknownBlock(toRootHex(new Uint8Array(32).fill(i + 1)), "flooder");
      sync.onUnknownParent(invalid(head.slot + 1, toRootHex(new Uint8Array(32).fill(i + 101)), i).signed, "flooder");
    }
    await peers.untilPenalties(() => peers.penaltiesOf("flooder").length === 4);
    await nextTurn();
    const requestCounts = { flooder: 4, witness: 4 };
    for (const [peerId, count] of Object.entries(requestCounts)) {
      expect(peers.roots.filter((request) => request.peerId === peerId)).toHaveLength(count);
    }

    const first = toRootHex(new Uint8Array(32).fill(1));
    sync.onUnknownBlock(first, "witness");
    expect(peers.roots).toHaveLength(8);
    await clock.advanceTo(NEAR + 4);
    sync.onUnknownBlock(first, "witness");
    expect(peers.roots.at(-1)).toEqual({ peerId: "witness", root: first });
  });

  it("a block far ahead refreshes the status of its peer instead of a lookup", async () => {
    const peers = new FakePeers();
    peers.add("sender", history, SILENT);
    const { sync } = await openFollower(peers, SLOTS, { has: history.slice(0, SLOTS - MAX_DEPTH - 1) });
    sync.start();
    sync.onUnknownParent(history.at(-1)!.signed, "sender");
    sync.onUnknownParent(history.at(-1)!.signed, "sender");
    expect(peers.refreshed).toEqual(["sender"]);
    expect(peers.roots).toEqual([]);
  });
});
