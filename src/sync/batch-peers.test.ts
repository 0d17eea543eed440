import { expect, it } from "vitest";
import { FakePeers } from "../../test/support/sync/fake-peers.ts";
import { Batch } from "./batch.ts";
import { BatchPeers } from "./batch-peers.ts";

const REST_MS = 100;
const BATCH_START = 9;

interface Options {
  peers: Record<string, { headSlot?: number; earliestAvailableSlot?: number }>;
  claimants?: string[];
  solePeer?: string;
  requestsPerPeer?: number;
}

function batchPeersOf({ peers: statuses, claimants = [], solePeer, requestsPerPeer = 1 }: Options) {
  const peers = new FakePeers();
  for (const [peerId, status] of Object.entries(statuses)) peers.add(peerId, [], { status });
  let now = 0;
  const batchPeers = new BatchPeers({
    peers,
    target: { kind: "head", slot: 20, root: "0xaa", claimants: new Set(claimants) },
    ...(solePeer !== undefined && { solePeer }),
    timers: { now: () => now },
    limits: { backoffMs: REST_MS, maxBackoffMs: 3 * REST_MS, requestsPerPeer },
  });
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  return { peers, batchPeers, pass, batch: new Batch({ startSlot: BATCH_START, count: 4 }) };
}

it("skips a peer whose history starts after the batch", () => {
  const young = { headSlot: 20, earliestAvailableSlot: BATCH_START + 1 };
  const { batchPeers, batch } = batchPeersOf({ peers: { young }, claimants: ["young"] });
  expect(batchPeers.pick(batch)).toBeNull();
  expect(batchPeers.hasPeer(batch)).toBe(false);
  expect(batchPeers.hasUntriedPeer(batch)).toBe(false);
  expect(batchPeers.hasUntriedClaimant(batch)).toBe(false);
  expect(batchPeers.claimantCount).toBe(1);
});

it("selects a peer whose history starts with the batch", () => {
  const { batchPeers, batch } = batchPeersOf({ peers: { old: { headSlot: 20, earliestAvailableSlot: BATCH_START } } });
  expect(batchPeers.pick(batch)).toBe("old");
});

it("selects a peer with a head before the batch only if it claims the target", () => {
  const headSlot = BATCH_START - 1;
  const { batchPeers, batch } = batchPeersOf({ peers: { short: { headSlot } } });
  expect(batchPeers.pick(batch)).toBeNull();
  const claiming = batchPeersOf({ peers: { short: { headSlot } }, claimants: ["short"] });
  expect(claiming.batchPeers.pick(batch)).toBe("short");
  const reaching = batchPeersOf({ peers: { exact: { headSlot: BATCH_START } } });
  expect(reaching.batchPeers.pick(batch)).toBe("exact");
});

it("prefers claimants, then other peers, then tried peers, then distrusted ones", () => {
  const headSlot = 20;
  const { peers, batchPeers, batch } = batchPeersOf({
    peers: { distrusted: { headSlot }, other: { headSlot }, claimant: { headSlot } },
    claimants: ["distrusted", "claimant"],
  });
  batchPeers.distrust("distrusted");
  const picked: (string | null)[] = [];
  for (let times = 0; times < 4; times++) {
    const peerId = batchPeers.pick(batch)!;
    picked.push(peerId);
    batch.startDownload(peerId);
  }
  expect(picked.slice(0, 2)).toEqual(["claimant", "other"]);
  expect(picked.slice(2).sort()).toEqual(["claimant", "other"]);
  expect(batchPeers.hasUntriedPeer(batch)).toBe(false);
  peers.remove("claimant");
  peers.remove("other");
  expect(batchPeers.pick(batch)).toBe("distrusted");
});

it("waits for a busy peer although one of lower rank is idle", () => {
  const headSlot = 20;
  const peers = { claimant: { headSlot }, other: { headSlot } };
  const { batchPeers, batch } = batchPeersOf({ peers, claimants: ["claimant"], requestsPerPeer: 2 });
  batchPeers.begin("claimant");
  expect(batchPeers.pick(batch)).toBe("claimant");
  batchPeers.begin("claimant");
  expect(batchPeers.pick(batch)).toBeNull();
  batchPeers.end("claimant", true);
  expect(batchPeers.pick(batch)).toBe("claimant");
});

it("doubles the backoff up to a limit, and resets it after a success", () => {
  const { batchPeers, batch, pass } = batchPeersOf({ peers: { only: { headSlot: 20 } } });
  const fail = () => {
    batchPeers.begin("only");
    batchPeers.end("only", false);
  };
  for (const rest of [REST_MS, 2 * REST_MS, 3 * REST_MS, 3 * REST_MS]) {
    fail();
    expect(batchPeers.msUntilRetry).toBe(rest);
    pass(rest - 1);
    expect(batchPeers.pick(batch)).toBeNull();
    pass(1);
    expect(batchPeers.msUntilRetry).toBeNull();
    expect(batchPeers.pick(batch)).toBe("only");
  }
  batchPeers.begin("only");
  batchPeers.end("only", true);
  fail();
  expect(batchPeers.msUntilRetry).toBe(REST_MS);
});

it("selects only the sole peer if one is given", () => {
  const headSlot = 20;
  const { batchPeers, batch } = batchPeersOf({ peers: { one: { headSlot }, sole: { headSlot } }, solePeer: "sole" });
  expect(batchPeers.pick(batch)).toBe("sole");
  batchPeers.begin("sole");
  expect(batchPeers.pick(batch)).toBeNull();
});
