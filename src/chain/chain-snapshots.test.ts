import type { RootHex } from "@lodestar/types";
import { expect, it } from "vitest";
import { SerialQueue } from "../async/serial-queue.ts";
import { ChainSnapshots } from "./chain-snapshots.ts";

type Parts = ConstructorParameters<typeof ChainSnapshots>[0];

const GENESIS = { root: "0x00", slot: 0, parentRoot: "0xff" };
const HEAD = { root: "0x01", slot: 4, parentRoot: GENESIS.root };

/** Snapshots of a chain whose parts only log their calls. */
function scene({ name = "", canonical = [GENESIS.root, HEAD.root] }: { name?: string; canonical?: RootHex[] } = {}) {
  const log: string[] = [];
  const nodes = [GENESIS, HEAD].map((block) => ({ block }));
  const part = (own: object = {}) => ({ capture: () => ({}), restore: () => {}, ...own });
  const restored: { forkSlot?: number } = {};
  const parts = {
    db: {
      addLayer: async () => {
        log.push("add layer");
        return 7;
      },
      dropLayer: async (layer: number) => void log.push(`drop layer ${layer}`),
      replaceChainWith: async () => void log.push("take chain"),
      finalizedBlocks: {
        range: async function* () {
          yield { slot: GENESIS.slot, root: GENESIS.root };
        },
      },
    },
    changes: new SerialQueue(),
    snapshotWriter: {
      finish: async () => {
        await Promise.resolve();
        log.push(`${name}finish`);
      },
    },
    forkChoice: part({
      head: HEAD,
      justified: GENESIS,
      finalized: GENESIS,
      get: (root: RootHex) => [GENESIS, HEAD].find((block) => block.root === root),
      capture: () => {
        log.push(`${name}capture`);
        return { nodes, head: HEAD };
      },
      restore: () => log.push("restore"),
    }),
    blocks: { clear: () => {}, isCanonical: async (root: RootHex) => canonical.includes(root) },
    importQueue: { dropAwaiting: () => {} },
    payloadPreparer: { forget: () => {} },
    tracker: part({
      restore: (_: unknown, forkSlot: number) => {
        restored.forkSlot = forkSlot;
      },
    }),
    payloads: part(),
    states: part(),
    snapshots: part(),
    pubkeys: part(),
    pools: part(),
    dataPool: part(),
    dataHistory: part(),
    deposits: part(),
    archiver: part(),
    lightClient: part(),
    subscriptions: part(),
    syncSubscriptions: part(),
  } as unknown as Parts;
  return { chainSnapshots: new ChainSnapshots(parts), log, restored };
}

it("finishes a pending state write before a snapshot adds its layer", async () => {
  const { chainSnapshots, log } = scene();
  expect(await chainSnapshots.take()).toMatchObject({ layer: 7 });
  expect(log).toEqual(["finish", "add layer", "capture"]);
});

it("finishes a pending state write before a layer is dropped", async () => {
  const { chainSnapshots, log, restored } = scene();
  const snapshot = await chainSnapshots.take();
  log.length = 0;
  await chainSnapshots.revertTo(snapshot, () => log.push("others"));
  expect(log).toEqual(["finish", "drop layer 7", "others", "restore"]);
  expect(restored.forkSlot).toBe(HEAD.slot);
});

it("the fork slot is that of the newest block that is still canonical", async () => {
  const { chainSnapshots, restored } = scene({ canonical: [GENESIS.root] });
  await chainSnapshots.revertTo(await chainSnapshots.take(), () => {});
  expect(restored.forkSlot).toBe(GENESIS.slot);
});

it("both chains finish pending state writes before one replaces the other", async () => {
  const other = scene({ name: "other " });
  const { chainSnapshots, log } = scene();
  await chainSnapshots.replaceBy(other.chainSnapshots, () => log.push("others"));
  expect(other.log).toEqual(["other finish", "other capture"]);
  expect(log).toEqual(["finish", "take chain", "others", "restore"]);
});
