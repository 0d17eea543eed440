import type { ChainConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Slot } from "@lodestar/types";

type MergeConfig = Pick<ChainConfig, "TERMINAL_BLOCK_HASH" | "TERMINAL_BLOCK_HASH_ACTIVATION_EPOCH">;

/**
 * Returns false before the activation epoch of a configured terminal block hash (bellatrix/fork-choice.md,
 * validate_merge_block).
 */
export function mayMergeAt(config: MergeConfig, slot: Slot): boolean {
  const isNamed = config.TERMINAL_BLOCK_HASH.some((byte) => byte !== 0);
  return !isNamed || computeEpochAtSlot(slot) >= config.TERMINAL_BLOCK_HASH_ACTIVATION_EPOCH;
}
