import type { RootHex } from "@lodestar/types";
import { onTestFinished, vi } from "vitest";
import type { Timers } from "../../../src/async/timers.ts";
import type { BeaconChain } from "../../../src/chain/chain.ts";
import { type HeaderSidecar, isColumn } from "../../../src/data/sidecar.ts";
import type { DevChain } from "../../../src/dev/dev-chain.ts";
import type { DevFork } from "../../../src/dev/forks.ts";
import { createLogger } from "../../../src/log/pino-logger.ts";
import type { DevNodeOptions } from "../../../src/node/dev-node.ts";
import type { RangeSyncLimits } from "../../../src/sync/limits.ts";
import { Sync } from "../../../src/sync/sync.ts";
import { BlobBlocks } from "../chain/blob-blocks.ts";
import { ByHand } from "../chain/by-hand.ts";
import { openDevChain, QUIET } from "../chain/dev-chain.ts";
import type { FakePeers, ServedBlock } from "./fake-peers.ts";

/** Shared by all chains, so that they have the same genesis block. */
export const GENESIS_TIME = 1_700_000_000;

/** Short batches, so that a short history has many. */
const LIMITS: Partial<RangeSyncLimits> = { batchSlots: 4, backoffMs: 1, stallCheckMs: 60_000, targetBackoffMs: 60_000 };

/** Returns the canonical blocks of a chain without genesis. */
export async function blocksOf({ chain }: DevChain): Promise<ServedBlock[]> {
  const blocks: ServedBlock[] = [];
  for (let slot = 1; slot <= chain.head.slot; slot++) {
    const block = await chain.blocks.canonicalAtSlot(slot);
    if (block) blocks.push({ root: block.root, signed: block.signed });
  }
  return blocks;
}

/** Resolves when the block is the head. */
export async function untilHead(chain: BeaconChain, root: RootHex): Promise<void> {
  while (chain.head.root !== root) {
    await new Promise<unknown>((resolve) => {
      onTestFinished(chain.events.on("head", resolve));
    });
  }
}

/** Produces blocks without attestations, one per slot, up to and including `to`. */
export async function growBranch(devChain: DevChain, parentRoot: RootHex, slots: { from: number; to: number }) {
  const byHand = new ByHand(devChain);
  const branch: ServedBlock[] = [];
  for (let slot = slots.from; slot <= slots.to; slot++) {
    branch.push(await byHand.propose(slot, branch.at(-1)?.root ?? parentRoot, 7));
  }
  return branch;
}

/**
 * Produces blocks on the genesis of a fork. All except every third commit to blobs, with fake proofs, which a chain
 * accepts after `believeProofs`.
 */
export async function committingHistory(fork: DevFork, slots: number): Promise<ServedBlock[]> {
  const { devChain } = await openDevChain({ ...chainOptions(fork), ...QUIET });
  const { chain, clock } = devChain;
  const making = new BlobBlocks(devChain);
  const history: ServedBlock[] = [];
  for (let slot = 1; slot <= slots; slot++) {
    await clock.advanceTo(slot);
    const blobs = slot % 3 === 0 ? 0 : 2;
    const { root, signed, sidecars: made } = await making.make({ slot, parentRoot: chain.head.root, blobs });
    const sidecars = blobs === 0 ? [] : made;
    chain.data.pool.add({ slot, root }, sidecars);
    await chain.importBlock(signed);
    history.push({ root, signed, sidecars });
  }
  return history;
}

const WRONG = 0xff;

/** Makes the chain accept all proofs except those of `withWrongProof`. */
export function believeProofs({ data: { kzg } }: BeaconChain): void {
  const areRight = async ({ proofs }: { proofs: readonly Uint8Array[] }) => proofs.every(([first]) => first !== WRONG);
  vi.spyOn(kzg, "verifyBlobs").mockImplementation(areRight);
  vi.spyOn(kzg, "verifyCells").mockImplementation(areRight);
}

export function withWrongProof(sidecar: HeaderSidecar): HeaderSidecar {
  const wrong = new Uint8Array(48).fill(WRONG);
  return isColumn(sidecar)
    ? { ...sidecar, kzgProofs: sidecar.kzgProofs.map(() => wrong) }
    : { ...sidecar, kzgProof: wrong };
}

function chainOptions(fork: DevFork | undefined): Partial<DevNodeOptions> {
  return { genesisTime: GENESIS_TIME, ...(fork && { forks: [{ fork, epoch: 0 }] }) };
}

/** Opens a node at the given slot with the given blocks, and its sync, not started. */
export async function openFollower(
  peers: FakePeers,
  slot: number,
  {
    has = [],
    limits,
    timers,
    fork,
    horizonSlots,
  }: {
    has?: readonly ServedBlock[];
    limits?: Partial<RangeSyncLimits>;
    timers?: Pick<Timers, "now" | "sleep">;
    /** The fork at genesis. Default: phase0. */
    fork?: DevFork;
    horizonSlots?: number;
  } = {},
) {
  const { devChain, complaints } = await openDevChain({ ...chainOptions(fork), ...QUIET });
  const { chain, clock } = devChain;
  await clock.advanceTo(slot);
  if (has.length > 0) await chain.importSegment(has.map(({ signed }) => signed));
  const log: string[] = [];
  const { logger } = createLogger({ format: "text", spec: "DEBUG", destination: { write: (line) => log.push(line) } });
  const sync = new Sync({ chain, peers, logger, limits: { ...LIMITS, ...limits }, timers, settings: { horizonSlots } });
  onTestFinished(() => sync.close());
  return { devChain, chain, clock, sync, log, complaints };
}
