import { GENESIS_EPOCH, ZERO_HASH_HEX } from "@lodestar/params";
import { computeEpochAtSlot, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import type { fulu } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";

/** Chain state with which a peer's status is compared. */
export type RelevanceChain = Pick<BeaconChain, "config" | "finalizedCheckpoint"> & {
  clock: Pick<BeaconChain["clock"], "currentSlot" | "currentSlotWithTolerance">;
  blocks: Pick<BeaconChain["blocks"], "rootAtOrBefore">;
};

/**
 * Returns the reason why a peer is not on our chain (phase0/p2p-interface.md, Status), or undefined if the peer is
 * relevant. A peer whose finalized block is unknown to this node counts as relevant.
 */
export async function irrelevanceReason(status: fulu.Status, chain: RelevanceChain): Promise<string | undefined> {
  if (!forkDigests(chain).some((digest) => equal(digest, status.forkDigest))) {
    return `different fork digest (${Buffer.from(status.forkDigest).toString("hex")})`;
  }
  const { clock, config } = chain;
  // Tolerates one slot in addition to the clock disparity, because a new slot may have started while the response was
  // in transit.
  const latestSlot = clock.currentSlotWithTolerance(config.MAXIMUM_GOSSIP_CLOCK_DISPARITY) + 1;
  if (status.headSlot > latestSlot) return `head in the future (slot ${status.headSlot})`;
  if (computeStartSlotAtEpoch(status.finalizedEpoch) > latestSlot) {
    return `finalized checkpoint in the future (epoch ${status.finalizedEpoch})`;
  }
  return (await contradictsFinality(status, chain))
    ? `different finalized chain (epoch ${status.finalizedEpoch})`
    : undefined;
}

async function contradictsFinality(
  { finalizedEpoch, finalizedRoot }: fulu.Status,
  { finalizedCheckpoint: finalized, blocks }: RelevanceChain,
): Promise<boolean> {
  if (finalizedEpoch > finalized.epoch) return false;
  const peerRoot = toRootHex(finalizedRoot);
  const isGenesis = finalizedEpoch === GENESIS_EPOCH;
  // The specification requires a zero root at genesis, but a restarted Prysm sends the root of the genesis block.
  if (isGenesis && peerRoot === ZERO_HASH_HEX) return false;
  if (!isGenesis && finalizedEpoch === finalized.epoch) return peerRoot !== finalized.root;
  const ownRoot = await blocks.rootAtOrBefore(computeStartSlotAtEpoch(finalizedEpoch));
  return ownRoot !== null && ownRoot !== peerRoot;
}

/** Returns the fork digests of the current slot and its neighbours, since clocks differ around a fork. */
function forkDigests({ config, clock }: RelevanceChain): Uint8Array[] {
  const slots = [clock.currentSlot, clock.currentSlot + 1, Math.max(0, clock.currentSlot - 1)];
  return slots.map((slot) => config.forkBoundary2ForkDigest(config.getForkBoundaryAtEpoch(computeEpochAtSlot(slot))));
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
