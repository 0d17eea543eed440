import type { RootHex } from "@lodestar/types";
import { expect, test } from "vitest";
import { Moments } from "./moments.ts";
import { SerialQueue } from "./serial-queue.ts";

type Parts = ConstructorParameters<typeof Moments>[0];

const GENESIS = { root: "0x00", slot: 0, parentRoot: "0xff" };
const HEAD = { root: "0x01", slot: 4, parentRoot: GENESIS.root };

/** Moments of a chain whose parts only note, in order, what is asked of them. */
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
      takeChainOf: async () => void log.push("take chain"),
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
    payloadAnnouncer: { forget: () => {} },
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
  return { moments: new Moments(parts), log, restored };
}

test("a state that is being stored is finished before a moment begins its layer", async () => {
  const { moments, log } = scene();
  expect(await moments.take()).toMatchObject({ layer: 7 });
  expect(log).toEqual(["finish", "add layer", "capture"]);
});

test("a state that is being stored is finished before the layer of a moment is dropped", async () => {
  const { moments, log, restored } = scene();
  const moment = await moments.take();
  log.length = 0;
  await moments.goBackTo(moment, () => log.push("others"));
  expect(log).toEqual(["finish", "drop layer 7", "others", "restore"]);
  expect(restored.forkSlot).toBe(HEAD.slot);
});

test("the fork slot is that of the newest block of then that is still canonical", async () => {
  const { moments, restored } = scene({ canonical: [GENESIS.root] });
  await moments.goBackTo(await moments.take(), () => {});
  expect(restored.forkSlot).toBe(GENESIS.slot);
});

test("both chains finish the state that they store before one takes the place of the other", async () => {
  const other = scene({ name: "other " });
  const { moments, log } = scene();
  await moments.takeOver(other.moments, () => log.push("others"));
  expect(other.log).toEqual(["other finish", "other capture"]);
  expect(log).toEqual(["finish", "take chain", "others", "restore"]);
});
