import type { RootHex } from "@lodestar/types";
import { expect, it } from "vitest";
import { SerialQueue } from "../async/serial-queue.ts";
import { ChainSnapshots } from "./chain-snapshots.ts";

type Parts = ConstructorParameters<typeof ChainSnapshots>[0];

const GENESIS = { root: "0x00", slot: 0, parentRoot: "0xff" };
const HEAD = { root: "0x01", slot: 4, parentRoot: GENESIS.root };

/** Components restored to their captured state, in addition to fork choice and the head. */
const CAPTURED = [
  "payloads",
  "payloadQueue",
  "states",
  "snapshots",
  "pubkeys",
  "pools",
  "dataPool",
  "dataHistory",
  "deposits",
  "confirmation",
  "archiver",
  "lightClient",
  "subscriptions",
  "syncSubscriptions",
];
/** Components that drop the abandoned blocks. */
const RESET = ["blocks", "payloadStore", "importQueue", "payloadPreparer"];

/** Snapshots of a chain whose components only log calls. */
function scene({ name = "", canonical = [GENESIS.root, HEAD.root] }: { name?: string; canonical?: RootHex[] } = {}) {
  const log: string[] = [];
  const nodes = [GENESIS, HEAD].map((block) => ({ block }));
  /** What was restored to each component. */
  const parts = new Map<string, unknown>();
  const part = (of: string, own: object = {}) => ({
    capture: () => `captured ${name}${of}`,
    restore: (captured: unknown) => void parts.set(of, captured),
    ...own,
  });
  const reset = (of: string) => () => void parts.set(of, "reset");
  const restored: { forkSlot?: number; parts: Map<string, unknown> } = { parts };
  const changing = {
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
    forkChoice: part("forkChoice", {
      head: HEAD,
      justified: GENESIS,
      finalized: GENESIS,
      get: (root: RootHex) => [GENESIS, HEAD].find((block) => block.root === root),
      capture: () => {
        log.push(`${name}capture`);
        return { nodes, head: HEAD };
      },
      restore: (captured: unknown) => {
        log.push("restore");
        parts.set("forkChoice", captured);
      },
    }),
    blocks: { clear: reset("blocks"), isCanonical: async (root: RootHex) => canonical.includes(root) },
    payloadStore: { clear: reset("payloadStore") },
    importQueue: { dropAwaiting: reset("importQueue") },
    payloadPreparer: { forget: reset("payloadPreparer") },
    tracker: part("tracker", {
      restore: (captured: unknown, forkSlot: number) => {
        parts.set("tracker", captured);
        restored.forkSlot = forkSlot;
      },
    }),
    ...Object.fromEntries(CAPTURED.map((of) => [of, part(of)])),
  } as unknown as Parts;
  return { chainSnapshots: new ChainSnapshots(changing), log, restored };
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

it("a revert restores every part to what it was, and resets those that follow the blocks", async () => {
  const { chainSnapshots, restored } = scene();
  await chainSnapshots.revertTo(await chainSnapshots.take(), () => {});
  const { forkChoice, ...parts } = Object.fromEntries(restored.parts);
  expect(forkChoice).toMatchObject({ head: HEAD });
  expect(parts).toEqual({
    ...Object.fromEntries([...CAPTURED, "tracker"].map((of) => [of, `captured ${of}`])),
    ...Object.fromEntries(RESET.map((of) => [of, "reset"])),
  });
});

it("a replaced chain has the parts of the other one", async () => {
  const { chainSnapshots, restored } = scene();
  await chainSnapshots.replaceBy(scene({ name: "other " }).chainSnapshots, () => {});
  for (const of of [...CAPTURED, "tracker"]) expect(restored.parts.get(of)).toBe(`captured other ${of}`);
  for (const of of RESET) expect(restored.parts.get(of)).toBe("reset");
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
