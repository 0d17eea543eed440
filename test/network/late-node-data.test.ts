import { createHash } from "node:crypto";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { SignedBeaconBlock, Slot } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { beforeAll, expect, it, vi } from "vitest";
import { type DataSidecar, serializeSidecar } from "../../src/data/sidecar.ts";
import { Caller } from "../support/api/caller.ts";
import { startDevChain } from "../support/chain/dev-chain.ts";
import { sharedKzg as kzg } from "../support/data/kzg/shared-kzg.ts";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import { GENESIS_TIME, SECONDS_PER_SLOT, TestNetwork } from "./support/test-network.ts";
import type { TestNode } from "./support/test-node.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const VALIDATORS = 16;
const FULU_EPOCH = 1;
const SLOTS = SLOTS_PER_EPOCH + 3;
const ANCHOR_SLOT = SLOTS_PER_EPOCH - 3;
const FORKS = [
  { fork: "electra", epoch: 0 },
  { fork: "fulu", epoch: FULU_EPOCH },
] as const;

interface PublishedBlock {
  slot: Slot;
  root: string;
  signed: SignedBeaconBlock;
  sidecars: DataSidecar[];
  blobs: Uint8Array[];
}

/** A chain with zero, one or two blobs per block. */
let history: PublishedBlock[];
beforeAll(async () => {
  const directory = removableDirectory();
  const { devChain, close } = await startDevChain(
    {
      speed: 0,
      chainTuning: { kzg },
      devBlobs: { min: 0, max: 2 },
      forks: FORKS,
      validators: VALIDATORS,
      slotSeconds: SECONDS_PER_SLOT,
      genesisTime: GENESIS_TIME,
    },
    directory.path,
  );
  const { chain, control } = devChain;
  await control.time.advance({ slots: SLOTS });
  history = [];
  for (let slot = 1; slot <= chain.head.slot; slot++) {
    const block = await chain.blocks.canonicalAtSlot(slot);
    if (!block) continue;
    const { root, signed } = block;
    const [sidecars, blobs] = await Promise.all([chain.data.sidecars({ slot, root }), chain.data.blobs(block)]);
    history.push({ slot, root, signed, sidecars, blobs });
  }
  await close();
  directory.remove();
});

/** A network of one node that has the whole history, with all columns. */
async function beginNetwork(): Promise<{ network: TestNetwork; first: TestNode }> {
  const network = new TestNetwork({ validators: VALIDATORS, forks: FORKS });
  const first = await network.add([], [], { supernode: true });
  await network.clock.advanceTo(SLOTS);
  for (const { slot, root, sidecars } of history) first.chain.data.pool.add({ slot, root }, sidecars);
  await first.chain.importSegment(history.map(({ signed }) => signed));
  return { network, first };
}

/** The node has the published data; in fulu the sampled columns. */
async function expectItsPart({ chain }: TestNode, blocks: readonly PublishedBlock[]): Promise<void> {
  const { sampled } = chain.data.custody;
  for (const { slot, root, sidecars } of blocks) {
    const isFulu = slot >= FULU_EPOCH * SLOTS_PER_EPOCH;
    const kept = isFulu ? sidecars.filter(({ index }) => sampled.includes(index)) : sidecars;
    expect((await chain.data.sidecars({ slot, root })).map(digestOf)).toEqual(kept.map(digestOf));
  }
}

const digestOf = (sidecar: DataSidecar) => createHash("sha256").update(serializeSidecar(sidecar)).digest("hex");

it("a node that starts late syncs blobs of electra and columns of fulu, and keeps its part of them", async () => {
  expect(history.some(({ slot, sidecars }) => slot < FULU_EPOCH * SLOTS_PER_EPOCH && sidecars.length > 0)).toBe(true);
  const { network, first } = await beginNetwork();

  const late = await network.add([], [first]);
  await late.networking.sync.whenSynced();

  expect(late.chain.head).toEqual(first.chain.head);
  expect(late.chain.data.custody.sampled).toHaveLength(8);
  await expectItsPart(late, history);
});

it("a checkpoint-synced node syncs later data, identical to the published", async () => {
  const { network, first } = await beginNetwork();
  const anchor = (await first.chain.states.canonicalAtSlot(ANCHOR_SLOT))!;

  const node = await network.add([], [first], { anchor, supernode: true });
  await node.networking.sync.whenSynced();

  expect(node.chain.head).toEqual(first.chain.head);
  const later = history.filter(({ slot }) => slot > ANCHOR_SLOT);
  await expectItsPart(node, later);
  const caller = new Caller(node.api);
  for (const { slot, blobs } of later) {
    expect(await caller.call("get_v1_beacon_blobs_blockId", [String(slot)])).toEqual(blobs.map((blob) => toHex(blob)));
  }
});
