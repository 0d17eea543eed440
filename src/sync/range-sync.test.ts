import { setImmediate as nextTurn } from "node:timers/promises";
import { type phase0, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startQuietDevChain } from "../../test/support/chain/dev-chain.ts";
import { FakePeers, type ServedBlock } from "../../test/support/sync/fake-peers.ts";
import { blocksOf, GENESIS_TIME, growBranch, openFollower } from "../../test/support/sync/history.ts";
import { RequestError } from "../network/reqresp/errors.ts";

const SLOTS = 50;

/** Length of a prefix of the history that contains no finality. */
const FEW = 20;

let history: ServedBlock[];
let few: ServedBlock[];
let finality: { finalizedEpoch: number; finalizedRoot: Uint8Array };

beforeAll(async () => {
  const { devChain, close } = await startQuietDevChain(SLOTS, { genesisTime: GENESIS_TIME });
  history = await blocksOf(devChain);
  few = history.slice(0, FEW);
  const { epoch, root } = devChain.chain.forkChoice.finalized;
  finality = { finalizedEpoch: epoch, finalizedRoot: fromHex(root) };
  await close();
});

const tipOf = (blocks: readonly ServedBlock[]) => blocks.at(-1)!.root;

const headOf = (blocks: readonly ServedBlock[]) => ({
  headSlot: blocks.at(-1)!.signed.message.slot,
  headRoot: fromHex(tipOf(blocks)),
});

/** Returns a copy of the block with modified content and the same signature. */
function spoiled(signed: SignedBeaconBlock): SignedBeaconBlock {
  const changed = ssz.phase0.SignedBeaconBlock.clone(signed as phase0.SignedBeaconBlock);
  changed.message.body.graffiti = new Uint8Array(32).fill(9);
  return changed;
}

describe("range sync", () => {
  it("reaches the finalized checkpoint, then the head, despite a slow and a failing peer", async () => {
    const peers = new FakePeers();
    const status = finality;
    peers.add("honest", history, { status });
    peers.add("other", history, { status });
    peers.add("failing", history, {
      status,
      byRange: () => Promise.reject(new RequestError("refused", "The peer has other things to do.")),
    });
    peers.add("slow", history, {
      status,
      byRange: (_, __, signal) => new Promise((_resolve, reject) => signal?.addEventListener("abort", reject)),
    });
    const { chain, sync, log, complaints } = await openFollower(peers, SLOTS, { limits: { stallCheckMs: 20 } });
    const states: string[] = [];
    sync.onChange((state) => states.push(state));

    sync.start();
    expect(sync.isSyncing).toBe(true);
    await sync.whenSynced();

    expect(chain.head.root).toBe(tipOf(history));
    expect(chain.forkChoice.finalized.epoch).toBe(finality.finalizedEpoch);
    expect(states).toEqual(["syncing", "synced"]);
    expect(peers.mostAtOnce).toBe(2);
    const peerIds = new Set(peers.ranges.map(({ peerId }) => peerId));
    expect([...peerIds].sort()).toEqual(["failing", "honest", "other", "slow"]);
    expect(peers.penalties).toEqual([]);
    expect(peers.refreshed).toContain("honest");
    expect(log.filter((line) => line.includes("INFO")).map((line) => line.split("  ")[2]?.trim())).toEqual([
      "Syncing",
      "Synced",
    ]);
    expect(complaints).toEqual([]);
  });

  it("an invalid block is penalized, and the blocks of other peers are imported", async () => {
    const peers = new FakePeers();
    peers.add("honest", few);
    peers.add("forger", few, { byRange: async (blocks) => [...blocks.slice(0, -1), spoiled(blocks.at(-1)!)] });
    const { chain, sync, log } = await openFollower(peers, FEW);

    sync.start();
    await sync.whenSynced();

    expect(chain.head.root).toBe(tipOf(few));
    expect(new Set(peers.penaltiesOf("forger"))).toEqual(new Set(["severe"]));
    const warnings = log.filter((line) => line.includes("WARN"));
    expect(warnings).toHaveLength(peers.penaltiesOf("forger").length);
    for (const warning of warnings) {
      expect(warning).toMatch(/Rejected block from peer +slot=\d+ root=0x\w{64} peer=forger reason=[\w-]+ detail=/);
    }
    expect(peers.penaltiesOf("honest")).toEqual([]);
  });

  it.each([
    ["all blocks", () => []],
    ["the last block of a batch", (blocks: SignedBeaconBlock[]) => blocks.slice(0, -1)],
    ["the first block of a batch", (blocks: SignedBeaconBlock[]) => blocks.slice(1)],
    ["a block in the middle", (blocks: SignedBeaconBlock[]) => blocks.filter((_, i) => i !== 1)],
  ])("only the peer that withholds %s is penalized", async (_, withhold) => {
    const peers = new FakePeers();
    peers.add("withholding", few, { byRange: async (blocks) => withhold(blocks) });
    peers.add("honest", few);
    peers.add("honest too", few);
    const { chain, sync } = await openFollower(peers, FEW);

    sync.start();
    await sync.whenSynced();

    expect(chain.head.root).toBe(tipOf(few));
    expect(new Set(peers.penaltiesOf("withholding"))).toEqual(new Set(["moderate"]));
    expect([...peers.penaltiesOf("honest"), ...peers.penaltiesOf("honest too")]).toEqual([]);
  });

  it("a lie about the head only costs requests to the lying peer", async () => {
    const peers = new FakePeers();
    const known = history.slice(0, 40);
    peers.add("honest", known);
    peers.add("honest too", known);
    peers.add("liar", known, { status: { headSlot: SLOTS, headRoot: new Uint8Array(32).fill(0xee) } });
    peers.add("dreamer", known, { status: { headSlot: 2 ** 40, headRoot: new Uint8Array(32).fill(0xdd) } });
    const { chain, sync } = await openFollower(peers, SLOTS);

    sync.start();
    await sync.whenSynced();

    expect(chain.head.root).toBe(tipOf(known));
    expect(peers.penaltiesOf("liar")).toEqual(["moderate"]);
    expect([...peers.penaltiesOf("honest"), ...peers.penaltiesOf("honest too")]).toEqual([]);
    const requestsBefore = peers.ranges.length;
    peers.add("newcomer", known);
    expect(sync.isSyncing).toBe(false);
    expect(peers.ranges).toHaveLength(requestsBefore);
  });

  it("a node on its own branch steps back to the common ancestor", async () => {
    const peers = new FakePeers();
    const { chain, sync, devChain } = await openFollower(peers, SLOTS, { has: history.slice(0, 10) });
    const own = await growBranch(devChain, tipOf(history.slice(0, 10)), { from: 13, to: 30 });
    expect(chain.head.root).toBe(tipOf(own));
    peers.add("honest", history, { status: finality });

    sync.start();
    await sync.whenSynced();

    expect(chain.head.root).toBe(tipOf(history));
    expect(peers.penalties).toEqual([]);
  });

  it.each([[["impostor", "honest"]], [["honest", "impostor", "honest too"]]])(
    "only a peer that claims the head of others but serves its own branch is penalized: %s",
    async (names) => {
      const { devChain: elsewhere } = await openFollower(new FakePeers(), SLOTS, { has: history.slice(0, 6) });
      const branch = await growBranch(elsewhere, tipOf(history.slice(0, 6)), { from: 9, to: 36 });
      const peers = new FakePeers();
      const { headSlot, headRoot } = headOf(history);
      for (const name of names) {
        const isHonest = name !== "impostor";
        peers.add(name, isHonest ? history : [...history.slice(0, 6), ...branch], { status: { headSlot, headRoot } });
      }
      const { chain, sync } = await openFollower(peers, SLOTS);

      sync.start();
      await sync.whenSynced();

      expect(chain.head.root).toBe(tipOf(history));
      expect(peers.penaltiesOf("impostor").length).toBeGreaterThan(0);
      expect([...peers.penaltiesOf("honest"), ...peers.penaltiesOf("honest too")]).toEqual([]);
    },
  );

  it("an undelivered target is abandoned and retried after a backoff", async () => {
    const peers = new FakePeers();
    let now = 0;
    const isFar = (milliseconds: number) => milliseconds >= 60_000;
    const timers = {
      now: () => now,
      sleep: async (milliseconds: number) => {
        if (isFar(milliseconds)) return new Promise<void>(() => {});
        now += milliseconds;
        await nextTurn();
      },
    };
    let willing = false;
    peers.add("unwilling", few, {
      byRange: async (blocks) => {
        if (!willing) throw new RequestError("timeout", "The peer is too slow.");
        return blocks;
      },
    });
    const { chain, clock, sync } = await openFollower(peers, FEW, { timers, limits: { maxBatchFailures: 3 } });
    sync.start();
    await peers.untilQuiet();
    expect(chain.head.slot).toBe(0);
    const attempts = () => peers.ranges.filter(({ range }) => range.startSlot === 1);
    expect(attempts()).toHaveLength(3);

    willing = true;
    await clock.advanceTo(FEW + 1);
    await peers.untilQuiet();
    expect(attempts()).toHaveLength(3);
    expect(sync.isSyncing).toBe(true);
    now += 600_000;
    await clock.advanceTo(FEW + 2);
    await sync.whenSynced();
    expect(chain.head.root).toBe(tipOf(few));
  });

  it("limits the batches in memory, and ends at once on close", async () => {
    const peers = new FakePeers();
    const pending = Promise.withResolvers<void>();
    let aborted = 0;
    for (const peerId of ["a", "b", "c", "d", "e", "f"]) {
      peers.add(peerId, history, {
        byRange: async (blocks, { startSlot }, signal) => {
          if (startSlot > 1) return blocks;
          signal?.addEventListener("abort", () => pending.reject(aborted++));
          await pending.promise;
          return blocks;
        },
      });
    }
    const { sync, chain } = await openFollower(peers, SLOTS, { limits: { maxBatches: 3 } });
    sync.start();
    await nextTurn();
    expect(peers.ranges.map(({ range }) => range.startSlot)).toEqual([1, 5, 9]);
    const synced = expect(sync.whenSynced()).rejects.toThrow("shut down");

    await sync.close();

    await synced;
    expect(aborted).toBe(1);
    expect(chain.head.slot).toBe(0);
    expect(peers.ranges).toHaveLength(3);
  });

  it("waits for the first peer before it reports synced", async () => {
    const peers = new FakePeers();
    const { sync, chain } = await openFollower(peers, 10);
    sync.start();
    expect(sync.state).toBe("waiting for peers");
    const giveUp = new AbortController();
    const waiting = sync.whenSynced(giveUp.signal);
    giveUp.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    peers.add("as far as we are", [], { status: { headRoot: fromHex(chain.head.root) } });
    expect(sync.state).toBe("synced");
    onTestFinished(() => peers.remove("as far as we are"));
  });
});
