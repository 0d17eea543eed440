import type { RootHex } from "@lodestar/types";
import { onTestFinished } from "vitest";
import { ByHand } from "../../test/support/by-hand.ts";
import { openDevChain, QUIET } from "../../test/support/dev-chain.ts";
import type { BeaconChain } from "../chain/chain.ts";
import type { DevChain } from "../dev/dev-chain.ts";
import { createLogger } from "../log/pino-logger.ts";
import type { Timers } from "../timers.ts";
import type { FakePeers, ServedBlock } from "./fake-peers.test-support.ts";
import type { RangeSyncLimits } from "./limits.ts";
import { Sync } from "./sync.ts";

/** The same for every chain, so that all begin with the same block. */
export const GENESIS_TIME = 1_700_000_000;

/** Short batches make a short history have many. */
const LIMITS: Partial<RangeSyncLimits> = { batchSlots: 4, restMs: 1, patienceMs: 60_000, doubtMs: 60_000 };

/** The canonical blocks of a chain without its genesis. */
export async function blocksOf({ chain }: DevChain): Promise<ServedBlock[]> {
  const blocks: ServedBlock[] = [];
  for (let slot = 1; slot <= chain.head.slot; slot++) {
    const block = await chain.blocks.canonicalAtSlot(slot);
    if (block) blocks.push({ root: block.root, signed: block.signed });
  }
  return blocks;
}

/** Resolves as soon as the block is the head. */
export async function untilHead(chain: BeaconChain, root: RootHex): Promise<void> {
  while (chain.head.root !== root) {
    await new Promise<unknown>((resolve) => {
      onTestFinished(chain.events.on("head", resolve));
    });
  }
}

/** Blocks without votes on top of a chain, one a slot, up to and including a slot. */
export async function growBranch(devChain: DevChain, parentRoot: RootHex, slots: { from: number; to: number }) {
  const byHand = new ByHand(devChain);
  const branch: ServedBlock[] = [];
  for (let slot = slots.from; slot <= slots.to; slot++) {
    branch.push(await byHand.propose(slot, branch.at(-1)?.root ?? parentRoot, 7));
  }
  return branch;
}

/** A node at the given slot that has only the blocks it is given, and its sync, not started. */
export async function openFollower(
  peers: FakePeers,
  slot: number,
  {
    has = [],
    limits,
    timers,
  }: { has?: readonly ServedBlock[]; limits?: Partial<RangeSyncLimits>; timers?: Pick<Timers, "now" | "sleep"> } = {},
) {
  const { devChain, complaints } = await openDevChain({ ...QUIET, genesisTime: GENESIS_TIME });
  const { chain, clock } = devChain;
  await clock.advanceTo(slot);
  if (has.length > 0) await chain.importSegment(has.map(({ signed }) => signed));
  const log: string[] = [];
  const { logger } = createLogger({ format: "text", spec: "DEBUG", destination: { write: (line) => log.push(line) } });
  const sync = new Sync({ chain, peers, logger, limits: { ...LIMITS, ...limits }, timers });
  onTestFinished(() => sync.close());
  return { devChain, chain, clock, sync, log, complaints };
}
