import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ForkName, ZERO_HASH } from "@lodestar/params";
import { type RootHex, ssz } from "@lodestar/types";
import { fromHex, toHex, toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ByHand } from "../../../test/support/chain/by-hand.ts";
import { EMPTY_SLOTS, LAST_SLOT, makeChainWithGap } from "../../../test/support/chain/chain-with-gap.ts";
import { type OpenedDevChain, openDevChain, QUIET, startDevChain } from "../../../test/support/chain/dev-chain.ts";
import { openFollower } from "../../../test/support/chain/follower.ts";
import { collect } from "../../../test/support/db/collect.ts";
import { tempDirectory } from "../../../test/support/directories/temp-directory.ts";
import { initialiseDatabase } from "../../chain/anchor/anchor.ts";
import { deserializeSignedBlock } from "../../chain/blocks/block-encoding.ts";
import { forkSchedule } from "../../cli/flags/dev/fork-schedule.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { openDatabase } from "../../db/open-database.ts";
import type { DevChain } from "../../dev/dev-chain.ts";
import { ChainRequestHandlers, type ChainRequestHandlersParts } from "./chain-request-handlers.ts";
import { ResourceUnavailable } from "./errors.ts";
import type { BlockChunk } from "./interface.ts";

const FORK_EPOCH = 3;
const FORK_SLOT = 24;
const HEAD_SLOT = LAST_SLOT + 1;
const metadata = ssz.fulu.Metadata.defaultValue();

let opened: OpenedDevChain | undefined;
let devChain: DevChain;
let db: BeaconDb;
/** Root of the sibling of the head, in the same slot. */
let rival: RootHex;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "fanal-test-"));
  const forkAt = [{ fork: "altair" as const, epoch: FORK_EPOCH }];
  await makeChainWithGap(directory, { fork: "phase0", forkAt });
  opened = await startDevChain({ ...QUIET, validators: 8, forks: forkSchedule("phase0", forkAt) }, directory);
  ({ devChain, db } = opened);
  await devChain.clock.advanceTo(HEAD_SLOT);
  const byHand = new ByHand(devChain);
  const parent = devChain.chain.head.root;
  await byHand.propose(HEAD_SLOT, parent, 1);
  rival = (await byHand.propose(HEAD_SLOT, parent, 2)).root;
}, 120_000);

afterAll(async () => {
  await opened?.close();
  rmSync(directory, { recursive: true, force: true });
});

function handlersOf(parts: Partial<ChainRequestHandlersParts> = {}): ChainRequestHandlers {
  const ignore = () => {};
  const callbacks = { onStatus: ignore, onPing: ignore, onGoodbye: ignore };
  return new ChainRequestHandlers({ chain: devChain.chain, db, node: { metadata }, ...callbacks, ...parts });
}

const decoded = ({ bytes }: BlockChunk) => deserializeSignedBlock(devChain.config, bytes);
const slotsOf = (chunks: BlockChunk[]) => chunks.map((chunk) => decoded(chunk).message.slot);

async function range(handlers: ChainRequestHandlers, startSlot: number, count: number): Promise<BlockChunk[]> {
  return collect(handlers.blocksByRange({ startSlot, count }));
}

const slotsFrom = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i).filter((slot) => !EMPTY_SLOTS.includes(slot as 31));

async function canonicalRoot(slot: number): Promise<RootHex> {
  return (await devChain.chain.blocks.canonicalAtSlot(slot))!.root;
}

describe("blocks by range", () => {
  it("are canonical, finalized or not, each with its fork digest", async () => {
    const chunks = await range(handlersOf(), 0, 1000);
    expect(devChain.chain.forkChoice.finalized.epoch).toBeGreaterThan(FORK_EPOCH);
    expect(slotsOf(chunks)).toEqual(slotsFrom(1, HEAD_SLOT));
    const { config } = devChain;
    const before = toHex(config.forkBoundary2ForkDigest({ fork: ForkName.phase0, epoch: 0 }));
    const after = toHex(config.forkBoundary2ForkDigest({ fork: ForkName.altair, epoch: FORK_EPOCH }));
    expect(before).not.toBe(after);
    for (const chunk of chunks) {
      const { message } = decoded(chunk);
      const root = toRootHex(config.getForkTypes(message.slot).BeaconBlock.hashTreeRoot(message as never));
      expect(root).toBe(await canonicalRoot(message.slot));
      expect(toHex(chunk.forkDigest)).toBe(message.slot < FORK_SLOT ? before : after);
    }
  });

  it("are those of the requested slots", async () => {
    const handlers = handlersOf();
    const slots = async (startSlot: number, count: number) => slotsOf(await range(handlers, startSlot, count));
    expect(await slots(0, 3)).toEqual([1, 2]);
    expect(await slots(0, 1)).toEqual([]);
    expect(await slots(30, 4)).toEqual([30, 33]);
    expect(await slots(EMPTY_SLOTS[0], EMPTY_SLOTS.length)).toEqual([]);
    expect(await slots(HEAD_SLOT, 10)).toEqual([HEAD_SLOT]);
    expect(await slots(HEAD_SLOT + 1, 10)).toEqual([]);
    expect(await slots(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)).toEqual([]);
    expect(await slots(5, 0)).toEqual([]);
  });

  it("are capped at MAX_REQUEST_BLOCKS", async () => {
    const { clock, forkChoice, finalizedCheckpoint, head, data, history } = devChain.chain;
    const config = { ...devChain.config, MAX_REQUEST_BLOCKS: 5 };
    const chain = { clock, forkChoice, finalizedCheckpoint, head, data, history, config };
    expect(slotsOf(await range(handlersOf({ chain }), 2, 1000))).toEqual([2, 3, 4, 5, 6]);
  });

  it("are complete while newly finalized blocks move to the database", async () => {
    const behind = { slot: 7, root: await canonicalRoot(7) };
    const spy = vi.spyOn(db.finalizedBlocks, "lastAtOrBefore").mockResolvedValue(behind);
    onTestFinished(() => spy.mockRestore());
    const handlers = handlersOf();
    expect(slotsOf(await range(handlers, 1, 1000))).toEqual(slotsFrom(1, HEAD_SLOT));
  });

  it("are unavailable before the anchor of the chain", async () => {
    const anchored = await openDatabase(join(tempDirectory(), "beacon-db"), { sync: false });
    onTestFinished(() => anchored.close());
    const state = await devChain.chain.states.afterBlock(await canonicalRoot(20), 20);
    await initialiseDatabase(anchored, devChain.config, { state }, {});
    const chain = await openFollower(anchored, devChain, HEAD_SLOT);
    onTestFinished(() => chain.close());
    const handlers = handlersOf({ chain, db: anchored });
    expect(handlers.status().earliestAvailableSlot).toBe(21);
    await expect(range(handlers, 20, 10)).rejects.toThrow(ResourceUnavailable);
  });
});

describe("blocks by root", () => {
  it("are in the order of the roots, on any branch, without genesis and missing blocks", async () => {
    const [genesis, early, head] = await Promise.all([0, 3, HEAD_SLOT].map(canonicalRoot));
    const unknown = `0x${"ab".repeat(32)}`;
    const roots = [head!, unknown, rival, genesis!, early!];
    const chunks = await collect(handlersOf().blocksByRoot(roots.map(fromHex)));
    const stored = await Promise.all([head!, rival, early!].map((root) => db.blocks.get(root)));
    expect(chunks.map(({ bytes }) => toHex(bytes))).toEqual(stored.map((bytes) => toHex(bytes!)));
  });
});

describe("blocks by head", () => {
  it("are in descending order, across empty slots and on any branch, without genesis", async () => {
    const handlers = handlersOf();
    const ancestry = async (root: RootHex, count: number) =>
      slotsOf(await collect(handlers.blocksByHead({ root, count })));
    expect(await ancestry(rival, 3)).toEqual([HEAD_SLOT, LAST_SLOT, LAST_SLOT - 1]);
    expect(await ancestry(await canonicalRoot(33), 4)).toEqual([33, 30, 29, 28]);
    expect(await ancestry(await canonicalRoot(2), 4)).toEqual([2, 1]);
    expect(await ancestry(`0x${"ab".repeat(32)}`, 4)).toEqual([]);
  });

  it("end at MIN_EPOCHS_FOR_BLOCK_REQUESTS", async () => {
    const { clock, forkChoice, finalizedCheckpoint, head, data, history } = devChain.chain;
    const config = { ...devChain.config, MIN_EPOCHS_FOR_BLOCK_REQUESTS: clock.currentEpoch - 1 };
    const handlers = handlersOf({ chain: { clock, forkChoice, finalizedCheckpoint, head, data, history, config } });
    const chunks = await collect(handlers.blocksByHead({ root: await canonicalRoot(12), count: 12 }));
    expect(slotsOf(chunks)).toEqual([12, 11, 10, 9, 8]);
  });
});

describe("status", () => {
  it("matches the chain", async () => {
    const { forkChoice, head, config } = devChain.chain;
    expect(handlersOf().status()).toEqual({
      forkDigest: config.forkBoundary2ForkDigest({ fork: ForkName.altair, epoch: FORK_EPOCH }),
      finalizedRoot: fromHex(forkChoice.finalized.root),
      finalizedEpoch: forkChoice.finalized.epoch,
      headRoot: fromHex(head.root),
      headSlot: HEAD_SLOT,
      earliestAvailableSlot: 0,
    });
  });

  it("has a zero finalized root at genesis", async () => {
    const fresh = await openDevChain({ ...QUIET, validators: 8 });
    const status = handlersOf({ chain: fresh.devChain.chain, db: fresh.db }).status();
    expect(status).toMatchObject({ finalizedEpoch: 0, finalizedRoot: ZERO_HASH, headSlot: 0 });
  });
});
