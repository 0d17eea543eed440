import { createBeaconConfig } from "@lodestar/config";
import { type fulu, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { GossipValidationError } from "../../chain/validation/outcome.ts";
import { hasHeader } from "../../data/sidecar.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import type { Verdict } from "./message-types.ts";
import { SidecarHandler } from "./sidecar-handler.ts";
import { GossipTopics } from "./topics.ts";

const forks = [{ fork: "fulu", epoch: 0 } as const];
const config = createBeaconConfig(devChainConfig({ forks, slotSeconds: 6, genesisTime: 0 }), new Uint8Array(32));
const topic = new GossipTopics(config).at(0, "data_column_sidecar", 5)!;

/**
 * Creates a handler on a chain whose verdict depends on the sidecar's index and whose known parents are configurable.
 */
function setUp(limits?: ConstructorParameters<typeof SidecarHandler>[1]) {
  const parents = new Set<string>();
  const requested: string[] = [];
  const listeners: { block?: (event: { root: string }) => void; slot?: (slot: number) => void } = {};
  const pending: (() => void)[] = [];
  const verdicts: Record<number, Verdict[]> = {};
  const handler = new SidecarHandler(
    {
      chain: {
        sidecars: {
          async process(sidecar, subnet) {
            await new Promise<void>((resolve) => pending.push(resolve));
            expect(subnet).toBe(5);
            if (!hasHeader(sidecar)) throw new Error("The test has sidecars with headers only.");
            const parent = toRootHex(sidecar.signedBlockHeader.message.parentRoot);
            if (!parents.has(parent)) throw new GossipValidationError("ignore", "unknown-parent", "It is not known.");
            if (sidecar.index === 13) throw new GossipValidationError("reject", "bad-signature", "It is not signed.");
          },
        },
        clock: {
          currentSlot: 10,
          onSlot(listener) {
            listeners.slot = listener as (slot: number) => void;
            return () => {};
          },
        },
        events: {
          on(_name, listener) {
            listeners.block = listener as unknown as (event: { root: string }) => void;
            return () => {};
          },
        },
        forkChoice: parents,
        isImporting: (root) => root === rootOf(9),
      },
      unknownBlocks: { onUnknownBlock: (root) => requested.push(root) },
      logger: createRecordingLogger(),
    },
    limits,
  );
  handler.start();
  const handle = (index: number, parent: number, { bytes = 100, peerId = "p" } = {}) => {
    const reports: Verdict[] = [];
    verdicts[index] = reports;
    const report = (verdict: Verdict) => void reports.push(verdict);
    handler.handle({ topic, object: sidecarOf(index, parent), bytes, peerId, report });
  };
  /** Completes all pending validations. */
  const settle = async () => {
    for (const resolve of pending.splice(0)) resolve();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const addBlock = (mark: number) => {
    parents.add(rootOf(mark));
    listeners.block?.({ root: rootOf(mark) });
  };
  return {
    handler,
    handle,
    settle,
    addBlock,
    beginSlot: (slot: number) => listeners.slot?.(slot),
    verdicts,
    requested,
  };
}

const rootOf = (mark: number) => toRootHex(new Uint8Array(32).fill(mark));

function sidecarOf(index: number, parent: number): fulu.DataColumnSidecar {
  const sidecar = ssz.fulu.DataColumnSidecar.defaultValue();
  sidecar.index = index;
  sidecar.signedBlockHeader.message.parentRoot = new Uint8Array(32).fill(parent);
  return sidecar;
}

it("verdicts are reported, and a sidecar waits for its parent, which is requested once", async () => {
  const { handler, handle, settle, addBlock, beginSlot, verdicts, requested } = setUp();
  addBlock(1);
  handle(1, 1);
  handle(13, 1);
  for (const index of [2, 3]) handle(index, 7);
  handle(4, 8);
  handle(5, 9);
  await settle();
  expect(verdicts).toEqual({ 1: ["accept"], 2: [], 3: [], 4: [], 5: [], 13: ["reject"] });
  // A block is not requested while it is being imported.
  expect(requested).toEqual([rootOf(7), rootOf(8)]);

  addBlock(7);
  beginSlot(11);
  await settle();
  expect([verdicts[2], verdicts[3], verdicts[4]]).toEqual([["accept"], ["accept"], []]);
  beginSlot(12);
  expect([verdicts[4], verdicts[5]]).toEqual([["ignore"], ["ignore"]]);
  await handler.close();
});

it("a sidecar whose parent arrives during validation does not wait", async () => {
  const { handler, handle, settle, addBlock, verdicts, requested } = setUp();
  handle(1, 7);
  const looked = settle();
  addBlock(7);
  await looked;
  await settle();
  expect(verdicts[1]).toEqual(["accept"]);
  expect(requested).toEqual([]);
  await handler.close();
});

it("pending and waiting sidecars are limited by count and bytes, per peer and in total", async () => {
  const waiting = { maxRoots: 8, maxItems: 3, maxRootsPerPeer: 8, maxItemsPerPeer: 2, maxBytes: 1000 };
  const { handler, handle, settle, addBlock, verdicts } = setUp({ maxCount: 3, maxBytes: 1000, waiting });
  addBlock(1);
  for (const index of [1, 2, 3, 4]) handle(index, 1);
  expect(verdicts[4]).toEqual(["ignore"]);
  await settle();
  handle(5, 1, { bytes: 900 });
  handle(6, 1, { bytes: 200 });
  expect(verdicts[6]).toEqual(["ignore"]);
  await settle();
  expect([1, 2, 3, 5].map((index) => verdicts[index])).toEqual(Array(4).fill(["accept"]));

  for (const index of [20, 21, 22]) handle(index, 7, { peerId: "greedy" });
  await settle();
  handle(23, 7, { peerId: "other", bytes: 900 });
  await settle();
  handle(24, 7, { peerId: "other" });
  await settle();
  handle(25, 7, { peerId: "third" });
  await settle();
  const pendingReports = Object.entries(verdicts).filter(([, reports]) => reports.length === 0);
  expect(pendingReports.map(([index]) => Number(index))).toEqual([20, 21, 24]);
  await handler.close();
  expect([20, 21, 24].map((index) => verdicts[index])).toEqual(Array(3).fill(["ignore"]));
});
