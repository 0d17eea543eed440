import { GENESIS_EPOCH, ZERO_HASH_HEX } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { fulu } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";

/** The part of the chain that a peer's status is compared with. */
export type RelevanceChain = Pick<BeaconChain, "config" | "finalizedCheckpoint"> & {
  clock: Pick<BeaconChain["clock"], "currentSlot" | "currentSlotWithTolerance">;
  blocks: Pick<BeaconChain["blocks"], "rootAtOrBefore">;
};

/**
 * Why a peer is of no use to this node, after phase0/p2p-interface.md, Status; undefined for a peer of our chain. What
 * cannot be told, because this node has not come that far or lacks the history, counts for the peer.
 */
export async function irrelevance(status: fulu.Status, chain: RelevanceChain): Promise<string | undefined> {
  if (!forkDigests(chain).some((digest) => equal(digest, status.forkDigest))) {
    return `another fork digest (${Buffer.from(status.forkDigest).toString("hex")})`;
  }
  const { clock, config } = chain;
  // One slot more than clocks may differ: the peer's answer may be about a slot that began meanwhile.
  const latestSlot = clock.currentSlotWithTolerance(config.MAXIMUM_GOSSIP_CLOCK_DISPARITY) + 1;
  if (status.headSlot > latestSlot) return `a head in the future (slot ${status.headSlot})`;
  if (computeStartSlotAtEpoch(status.finalizedEpoch) > latestSlot) {
    return `a finalized checkpoint in the future (epoch ${status.finalizedEpoch})`;
  }
  return (await contradictsFinality(status, chain))
    ? `another finalized chain (epoch ${status.finalizedEpoch})`
    : undefined;
}

async function contradictsFinality(
  { finalizedEpoch, finalizedRoot }: fulu.Status,
  { finalizedCheckpoint: finalized, blocks }: RelevanceChain,
): Promise<boolean> {
  if (finalizedEpoch > finalized.epoch) return false;
  const theirs = toRootHex(finalizedRoot);
  const isGenesis = finalizedEpoch === GENESIS_EPOCH;
  // The root is all zeros at genesis, but Prysm, once it was started again, tells that of the genesis block.
  if (isGenesis && theirs === ZERO_HASH_HEX) return false;
  if (!isGenesis && finalizedEpoch === finalized.epoch) return theirs !== finalized.root;
  const ours = await blocks.rootAtOrBefore(computeStartSlotAtEpoch(finalizedEpoch));
  return ours !== null && ours !== theirs;
}

/** Of the current slot and its neighbours: around a fork, honest peers may still be in the one or already in the other. */
function forkDigests({ config, clock }: RelevanceChain): Uint8Array[] {
  const slots = [clock.currentSlot, clock.currentSlot + 1, Math.max(0, clock.currentSlot - 1)];
  return slots.map((slot) => config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(computeEpochAtSlot(slot))));
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
