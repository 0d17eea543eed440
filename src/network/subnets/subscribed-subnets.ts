import { createHash } from "node:crypto";
import type { BeaconConfig } from "@lodestar/config";
import { ATTESTATION_SUBNET_COUNT, ATTESTATION_SUBNET_PREFIX_BITS } from "@lodestar/params";
import { computeShuffledIndex } from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";

const NODE_ID_BITS = 256n;

/**
 * Returns a node id's long-lived attestation subnets: `compute_subscribed_subnets` from phase0/p2p-interface.md,
 * Attestation subnet subscription.
 */
export function computeSubscribedSubnets(
  config: Pick<BeaconConfig, "SUBNETS_PER_NODE" | "EPOCHS_PER_SUBNET_SUBSCRIPTION">,
  nodeId: Uint8Array,
  epoch: Epoch,
): number[] {
  const id = BigInt(`0x${Buffer.from(nodeId).toString("hex")}`);
  const prefix = Number(id >> (NODE_ID_BITS - BigInt(ATTESTATION_SUBNET_PREFIX_BITS)));
  const period = config.EPOCHS_PER_SUBNET_SUBSCRIPTION;
  // Nodes rotate their subnets in different epochs.
  const offset = Number(id % BigInt(period));
  const seed = sha256OfUint64(Math.floor((epoch + offset) / period));
  const first = computeShuffledIndex(prefix, 2 ** ATTESTATION_SUBNET_PREFIX_BITS, seed);
  return Array.from({ length: config.SUBNETS_PER_NODE }, (_, index) => (first + index) % ATTESTATION_SUBNET_COUNT);
}

function sha256OfUint64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return createHash("sha256").update(bytes).digest();
}
