import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it, vi } from "vitest";
import { ByHand } from "../../test/support/chain/by-hand.ts";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import { variants } from "../../test/support/suite/tier.ts";
import { FakePeers, type ServedBlock } from "../../test/support/sync/fake-peers.ts";
import {
  believeProofs,
  committingHistory,
  openFollower,
  untilHead,
  withWrongProof,
} from "../../test/support/sync/history.ts";
import { FakeTimers } from "../../test/support/time/fake-timers.ts";
import type { BeaconChain } from "../chain/chain.ts";
import { ALL_COLUMNS } from "../data/column-sidecars.ts";
import { type DataSidecar, type HeaderSidecar, serializeSidecar, slotOfSidecar } from "../data/sidecar.ts";
import { DevExecutionEngine } from "../execution/dev-engine.ts";
import { RequestError } from "../network/reqresp/errors.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { RangeData } from "./range-data.ts";
import type { SyncChain } from "./sync-chain.ts";

const SLOTS = 9;

/** Opens a node at genesis and starts its sync. */
async function follow(peers: FakePeers, fork: "electra" | "fulu", limits = {}, timers?: FakeTimers) {
  const follower = await openFollower(peers, SLOTS, { fork, limits: { dataBlocks: 2, ...limits }, timers });
  believeProofs(follower.chain);
  follower.sync.start();
  return follower;
}

/** A compact form for readable diffs. */
const digests = (sidecars: readonly DataSidecar[] = []) =>
  sidecars.map((sidecar) => `${sidecar.index} ${createHash("sha1").update(serializeSidecar(sidecar)).digest("hex")}`);

async function expectData(chain: BeaconChain, history: readonly ServedBlock[]): Promise<void> {
  for (const { root, signed, sidecars } of history) {
    expect(digests(await chain.data.sidecars({ root, slot: signed.message.slot }))).toEqual(digests(sidecars));
  }
  expect(chain.data.pool.size).toEqual({ blocks: 0, bytes: 0 });
}

const FORKS = variants({ fast: ["fulu"], full: ["electra"] } as const);

describe.each(FORKS)("the data of synced %s blocks", (fork) => {
  it("is fetched before the import, from another peer after a failed, empty or invalid response", async () => {
    const history = await committingHistory(fork, SLOTS);
    const peers = new FakePeers();
    peers.add("failing", history, { data: () => Promise.reject(new RequestError("refused", "Not now.")) });
    peers.add("withholding", history, { data: async () => [] });
    peers.add("wrong", history, { data: async (honest) => honest.map(withWrongProof) });
    const { chain } = await follow(peers, fork);
    await peers.untilPenalties(() => peers.penaltiesOf("wrong").length > 0);
    expect(chain.head.slot).toBe(0);
    peers.add("honest", history);

    await untilHead(chain, history.at(-1)!.root);
    await expectData(chain, history);
    expect(new Set(peers.penaltiesOf("wrong"))).toEqual(new Set(["severe"]));
    expect(new Set(peers.penaltiesOf("withholding"))).toEqual(new Set(["mild"]));
    expect(peers.penaltiesOf("honest")).toEqual([]);
  });

  it("is requested only for blocks with data, and continued after a partial response", async () => {
    const history = await committingHistory(fork, SLOTS);
    const peers = new FakePeers();
    const ofFirstBlock = (sidecars: HeaderSidecar[]) =>
      sidecars.filter((sidecar) => slotOfSidecar(sidecar) === slotOfSidecar(sidecars[0]!));
    peers.add("brief", history, { data: async (honest) => ofFirstBlock(honest) });
    const { chain } = await follow(peers, fork);

    await untilHead(chain, history.at(-1)!.root);
    await expectData(chain, history);
    expect(peers.penalties).toEqual([]);
    // Slots 3 and 9, at the ends of the range, have no data.
    for (const { range } of peers.data) expect((range!.startSlot + range!.count - 1) % 3).not.toBe(0);
  });
});

describe("columns", () => {
  it("are requested from custodians, or from all peers if there is none, without a penalty", async () => {
    const history = await committingHistory("fulu", SLOTS);
    const peers = new FakePeers();
    peers.add("low", history, { columns: ALL_COLUMNS.slice(0, 64) });
    peers.add("high", history, { columns: ALL_COLUMNS.slice(64, 127) });
    const { chain } = await follow(peers, "fulu", { custodianWaitMs: 600_000 });
    const root = history[0]!.root;
    const untilHeld = (count: number) =>
      new Promise<void>((resolve) => chain.data.pool.onAdded(() => chain.data.pool.count(root) === count && resolve()));
    await untilHeld(127);
    const untilAsked = (peerId: string) =>
      expect
        .poll(() => peers.data.some((request) => request.peerId === peerId && request.indices.includes(127)))
        .toBe(true);
    await untilAsked("low");
    await untilAsked("high");
    expect(chain.head.slot).toBe(0);
    const askedBefore = peers.data.length;
    peers.add("last", history, { columns: [127] });

    await untilHead(chain, history.at(-1)!.root);
    await expectData(chain, history);
    expect(peers.penalties).toEqual([]);
    for (const { peerId, indices } of peers.data.slice(askedBefore)) {
      const isKept = (column: number) =>
        peerId === "low" ? column < 64 : peerId === "high" ? column >= 64 && column < 127 : column === 127;
      expect(indices.every(isKept)).toBe(true);
    }
  });

  it("of slow but steady peers are awaited", async () => {
    const history = await committingHistory("fulu", SLOTS);
    const peers = new FakePeers();
    const timers = new FakeTimers();
    let givenUp = 0;
    const slowly = async (
      honest: HeaderSidecar[],
      signal: AbortSignal | undefined,
      give: (one: HeaderSidecar) => void,
    ) => {
      const half = Math.ceil(honest.length / 2);
      for (const sidecar of honest.slice(0, half)) give(sidecar);
      await timers.sleep(7_000, signal!).catch((cause) => {
        givenUp++;
        throw new RequestError("disconnected", "The request was given up.", { cause });
      });
      return honest.slice(half);
    };
    peers.add("slow", history, { data: slowly });
    peers.add("slow too", history, { data: slowly });
    peers.add("quick", history);
    const { chain } = await follow(peers, "fulu", { stallCheckMs: 5_000 }, timers);

    while (chain.head.root !== history.at(-1)!.root && givenUp === 0) await timers.advance(1_000);
    expect(givenUp).toBe(0);
    await expectData(chain, history);
    expect(peers.penalties).toEqual([]);
  });

  it("of an unresponsive peer are requested from another one once it is idle", async () => {
    const history = await committingHistory("fulu", SLOTS);
    const peers = new FakePeers();
    const timers = new FakeTimers();
    const silent = silentPeer();
    const honest = Promise.withResolvers<void>();
    peers.add("silent", history, { data: silent.data });
    peers.add("honest", history, { data: (data) => honest.promise.then(() => data) });
    const { chain } = await follow(peers, "fulu", { stallCheckMs: 5_000 }, timers);
    await expect.poll(() => peers.data).toHaveLength(2);
    await timers.advance(20_000);
    expect(silent.givenUp).toBe(0);
    honest.resolve();

    while (chain.head.root !== history.at(-1)!.root) await timers.advance(1_000);
    await expectData(chain, history);
    expect(peers.penaltiesOf("honest")).toEqual([]);
  });

  it("are requested from unresponsive peers only as a last resort, with a penalty", async () => {
    const history = await committingHistory("fulu", SLOTS);
    const peers = new FakePeers();
    const timers = new FakeTimers();
    const { data } = silentPeer();
    peers.add("silent", history, { data });
    peers.add("silent too", history, { data });
    peers.add("dripping", history, {
      data(honest, signal, give) {
        give(honest[0]!);
        return data(honest, signal);
      },
    });
    peers.add("honest", history);
    const { chain } = await follow(peers, "fulu", { stallCheckMs: 5_000 }, timers);

    while (chain.head.root !== history.at(-1)!.root) await timers.advance(1_000);
    await expectData(chain, history);
    const times = (peerId: string) => peers.data.filter((request) => request.peerId === peerId).length;
    expect([times("silent"), times("silent too"), times("dripping")]).toEqual([1, 1, 1]);
    expect(peers.penaltiesOf("silent").filter((severity) => severity === "moderate")).toHaveLength(1);
    expect(peers.penaltiesOf("dripping")).toEqual([]);
    expect(peers.penaltiesOf("honest")).toEqual([]);
  });

  it("received before an abort are not requested again", async () => {
    const history = await committingHistory("fulu", SLOTS);
    const peers = new FakePeers();
    const timers = new FakeTimers();
    const silent = silentPeer();
    let firstIndex: number | undefined;
    peers.add("dripping", history, {
      data(honest, signal, give) {
        firstIndex ??= honest[0]?.index;
        for (const sidecar of honest.filter(({ index }) => index === firstIndex)) give(sidecar);
        return silent.data(honest, signal);
      },
    });
    peers.add("honest", history);
    const { chain } = await follow(peers, "fulu", { stallCheckMs: 5_000 }, timers);

    while (chain.head.root !== history.at(-1)!.root) await timers.advance(1_000);
    await expectData(chain, history);
    const first = peers.data.filter(({ range }) => range?.startSlot === 1);
    expect(first.filter(({ indices }) => indices.includes(firstIndex!)).map(({ peerId }) => peerId)).toEqual([
      "dripping",
    ]);
  });
});

/** A peer that does not respond until the request is aborted. */
function silentPeer() {
  const peer = {
    givenUp: 0,
    data: (_honest: HeaderSidecar[], signal: AbortSignal | undefined) =>
      new Promise<HeaderSidecar[]>((_resolve, reject) => {
        signal?.addEventListener("abort", () => {
          peer.givenUp++;
          reject(new RequestError("disconnected", "The request was given up."));
        });
      }),
  };
  return peer;
}

it("blocks imported in the meantime need no data", async () => {
  const history = await committingHistory("electra", SLOTS);
  const peers = new FakePeers();
  const comeByGossip = async (blocks: readonly ServedBlock[]) => {
    for (const { root, signed, sidecars = [] } of blocks) {
      chain.data.pool.add({ slot: signed.message.slot, root }, sidecars);
      await chain.importBlock(signed);
    }
  };
  const whilePayloadIsJudged = history.slice(4, 7);
  vi.mocked(DevExecutionEngine.prototype.notifyNewPayload).mockImplementation(async (_fork, { blockNumber }) => {
    if (blockNumber === 5) await comeByGossip(whilePayloadIsJudged.splice(0));
    return { status: "valid" };
  });
  peers.add("peer", history, {
    async data(honest) {
      if (chain.head.slot > 0) return honest;
      await comeByGossip(history.slice(0, 3));
      return [];
    },
  });
  const { chain, log } = await follow(peers, "electra");

  await untilHead(chain, history.at(-1)!.root);
  expect(whilePayloadIsJudged).toEqual([]);
  await expectData(chain, history);
  expect(log.filter((line) => line.includes("WARN"))).toEqual([]);
});

it.each(FORKS)("forged %s blocks are neither accepted nor awaited", async (fork) => {
  const history = await committingHistory(fork, SLOTS);
  const signature = new Uint8Array(96).fill(1);
  const forged = history.map(({ root, signed, sidecars = [] }) => ({
    root,
    signed: { ...signed, signature },
    sidecars: sidecars.map((sidecar) => ({
      ...sidecar,
      signedBlockHeader: { ...sidecar.signedBlockHeader, signature },
    })),
  }));
  const peers = new FakePeers();
  peers.add("forger", forged);
  const { chain } = await follow(peers, fork);
  await peers.untilPenalties(() => peers.penaltiesOf("forger").includes("severe"));
  peers.remove("forger");
  peers.add("honest", history);

  await untilHead(chain, history.at(-1)!.root);
  await expectData(chain, history);
  expect(peers.data.some(({ peerId }) => peerId === "forger")).toBe(false);
});

it("invalid blocks are penalized although their data does not exist", async () => {
  const history = await committingHistory("electra", SLOTS);
  const peers = new FakePeers();
  const { chain, devChain } = await follow(peers, "electra");
  const byHand = new ByHand(devChain);
  const [first] = history;
  const { root, signed } = byHand.sign({ ...first!.signed.message, stateRoot: new Uint8Array(32) });
  peers.add("inventor", [{ root, signed }], { status: { headSlot: SLOTS } });
  const refusal = { peerId: "inventor", severity: "severe", reason: "invalid block in range sync: wrong-state-root" };
  await peers.untilPenalties(() => peers.penalties.length > 0);
  expect(peers.penalties[0]).toEqual(refusal);
  peers.remove("inventor");
  peers.add("honest", history);

  await untilHead(chain, history.at(-1)!.root);
  expect(peers.penaltiesOf("honest")).toEqual([]);
});

it("data with another signature than the block of another peer is not penalized", async () => {
  const history = await committingHistory("electra", SLOTS);
  const unsigned = history.map(({ root, signed }) => ({ root, signed: { ...signed, signature: new Uint8Array(96) } }));
  const peers = new FakePeers();
  peers.add("forger", unsigned);
  peers.add("honest", history);
  const { chain } = await follow(peers, "electra");

  await untilHead(chain, history.at(-1)!.root);
  expect(peers.ranges.some(({ peerId }) => peerId === "forger")).toBe(true);
  expect(peers.penaltiesOf("honest")).toEqual([]);
});

it("data is requested only from peers whose history covers the range", async () => {
  const config = createBeaconConfig(chainConfig, new Uint8Array(32));
  const block = { root: toRootHex(new Uint8Array(32).fill(5)), signed: ssz.phase0.SignedBeaconBlock.defaultValue() };
  block.signed.message.slot = 5;
  const data = { hasColumns: () => false, missing: () => [0], required: () => [0] };
  const validation = { config, bls: { verifyEach: async () => [true] } };
  const chain = { data, validation, forkChoice: { has: () => false } } as unknown as SyncChain;
  const peers = new FakePeers();
  peers.add("young", [], { status: { headSlot: 9, earliestAvailableSlot: 6 } });
  peers.add("old", [], { status: { headSlot: 9, earliestAvailableSlot: 5 } });
  const brought = new RangeData({
    chain,
    peers,
    target: { kind: "head", slot: 9, root: "0x9", claimants: new Set() },
    timers: {
      sleep: async (_, over) => {
        over?.throwIfAborted();
        await nextTurn();
      },
    },
    logger: createRecordingLogger(),
    limits: DEFAULT_LIMITS,
  });
  await brought.fetch({ blocks: [block.signed], committing: [block] }, new AbortController().signal);
  expect(peers.data.map(({ peerId }) => peerId)).toEqual(["old"]);
});
