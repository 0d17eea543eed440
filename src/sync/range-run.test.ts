import { createBeaconConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { type RootHex, type SignedBeaconBlock, ssz } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import { FakePeers, type ServedBlock } from "../../test/support/sync/fake-peers.ts";
import { BlockRejection, type RejectionReason } from "../chain/import/block-rejection.ts";
import { RequestError } from "../network/reqresp/errors.ts";
import { DEFAULT_LIMITS, type RangeSyncLimits } from "./limits.ts";
import { RangeRun } from "./range-run.ts";
import type { SyncChain } from "./sync-chain.ts";

const config = createBeaconConfig(chainConfig, new Uint8Array(32));
const GENESIS_ROOT = toRootHex(new Uint8Array(32).fill(1));
const SLOTS_PER_EPOCH = 8;

/** Creates empty blocks on top of genesis, one per slot. */
function blocksUpTo(slot: number): ServedBlock[] {
  const blocks: ServedBlock[] = [];
  for (let each = 1; each <= slot; each++) {
    const signed = ssz.phase0.SignedBeaconBlock.defaultValue();
    signed.message.slot = each;
    signed.message.parentRoot = fromHex(blocks.at(-1)?.root ?? GENESIS_ROOT);
    blocks.push({ signed, root: toRootHex(ssz.phase0.BeaconBlock.hashTreeRoot(signed.message)) });
  }
  return blocks;
}

/** A chain that imports all connected blocks for which `refusal` returns no reason. */
function fakeChain(refusal: (blocks: readonly SignedBeaconBlock[]) => RejectionReason | undefined) {
  const known = new Set<RootHex>([GENESIS_ROOT]);
  const imported: number[] = [];
  const chain = {
    config,
    head: { slot: 0, root: GENESIS_ROOT },
    forkChoice: {
      finalized: { epoch: 0, root: GENESIS_ROOT },
      has: (root: RootHex) => known.has(root),
      get: () => undefined,
      ancestorAtSlot: () => undefined,
    },
    data: { required: () => [], hasColumns: () => false },
    validation: { config, bls: { verifyEach: async () => [] } },
    importSegment: async (blocks: readonly SignedBeaconBlock[]) => {
      const reason = refusal(blocks);
      if (reason) throw new BlockRejection(reason, "The block is refused.");
      for (const { message } of blocks) {
        known.add(toRootHex(ssz.phase0.BeaconBlock.hashTreeRoot(message as never)));
        imported.push(message.slot);
      }
    },
  } as unknown as SyncChain;
  return { chain, imported };
}

function runOf(chain: SyncChain, peers: FakePeers, blocks: readonly ServedBlock[], limits: Partial<RangeSyncLimits>) {
  let now = 0;
  const target = blocks.at(-1)!;
  const run = new RangeRun({
    chain,
    peers,
    target: {
      kind: "head",
      slot: target.signed.message.slot,
      root: target.root,
      claimants: new Set(peers.list().map(({ peerId }) => peerId)),
    },
    timers: {
      now: () => now,
      // Backoffs end immediately, and requests never stall.
      sleep: async (milliseconds, signal) => {
        if (milliseconds === DEFAULT_LIMITS.stallCheckMs) {
          await new Promise((_, reject) => signal?.addEventListener("abort", reject));
        }
        now += milliseconds;
      },
    },
    logger: createRecordingLogger(),
    limits: { ...DEFAULT_LIMITS, batchSlots: 4, ...limits },
    slotsPerEpoch: SLOTS_PER_EPOCH,
    onRejectedPayload: () => {},
    onProgress: () => {},
  });
  return run.run(new AbortController().signal);
}

const attempts = (peers: FakePeers) => peers.ranges.filter(({ range }) => range.startSlot === 1).length;

it("imports all batches in order up to the target", async () => {
  const blocks = blocksUpTo(10);
  const peers = new FakePeers();
  peers.add("honest", blocks);
  const { chain, imported } = fakeChain(() => undefined);
  expect(await runOf(chain, peers, blocks, {})).toBe("reached");
  expect(imported).toEqual(blocks.map(({ signed }) => signed.message.slot));
  expect(peers.ranges.map(({ range }) => range)).toEqual([
    { startSlot: 1, count: 4 },
    { startSlot: 5, count: 4 },
    { startSlot: 9, count: 2 },
  ]);
});

it.each([1, 3])("a batch is abandoned after %i rejections", async (maxBatchRejections) => {
  const blocks = blocksUpTo(4);
  const peers = new FakePeers();
  peers.add("forger", blocks);
  const { chain, imported } = fakeChain(() => "invalid-signature");
  expect(await runOf(chain, peers, blocks, { maxBatchRejections })).toBe("undelivered");
  expect(attempts(peers)).toBe(maxBatchRejections);
  expect(imported).toEqual([]);
  expect(peers.penaltiesOf("forger")).toEqual(new Array(maxBatchRejections).fill("severe"));
});

it("a batch is still imported after one rejection less than the limit", async () => {
  const blocks = blocksUpTo(4);
  const peers = new FakePeers();
  peers.add("honest", blocks);
  const reasons: (RejectionReason | undefined)[] = ["data-unavailable", "data-unavailable"];
  const { chain, imported } = fakeChain(() => reasons.shift());
  expect(await runOf(chain, peers, blocks, { maxBatchRejections: 3 })).toBe("reached");
  expect(attempts(peers)).toBe(3);
  expect(imported).toEqual([1, 2, 3, 4]);
  expect(peers.penalties).toEqual([]);
});

it.each([1, 3])("a batch is abandoned after %i failed requests", async (maxBatchFailures) => {
  const blocks = blocksUpTo(4);
  const peers = new FakePeers();
  peers.add("failing", blocks, { byRange: () => Promise.reject(new RequestError("refused", "Not now.")) });
  const { chain } = fakeChain(() => undefined);
  expect(await runOf(chain, peers, blocks, { maxBatchFailures })).toBe("undelivered");
  expect(attempts(peers)).toBe(maxBatchFailures);
  expect(peers.penalties).toEqual([]);
});

it("a run without a peer for the batch is deserted", async () => {
  const blocks = blocksUpTo(4);
  const peers = new FakePeers();
  peers.add("young", blocks, { status: { earliestAvailableSlot: 2 } });
  const { chain } = fakeChain(() => undefined);
  expect(await runOf(chain, peers, blocks, {})).toBe("deserted");
  expect(peers.ranges).toEqual([]);
});
