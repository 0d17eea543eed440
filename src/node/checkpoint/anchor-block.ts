import type { BeaconConfig } from "@lodestar/config";
import { type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../../chain/anchor/anchor.ts";
import { blockRoot, deserializeSignedBlock } from "../../chain/blocks/block-encoding.ts";
import { messageOf } from "../../http-client/http-error.ts";
import type { Logger } from "../../log/logger.ts";
import { StartError } from "../start-error.ts";
import type { LoadedState } from "./anchor-state.ts";
import type { CheckpointPin } from "./checkpoint-pin.ts";
import { type ReadLimits, readSsz } from "./read-ssz.ts";

/** Far larger than any block. */
const BLOCK_LIMITS: ReadLimits = { idleMs: 30_000, maxBytes: 64 * 1024 ** 2 };

/** Source of the anchor state. Each member is an absolute path or an http(s) URL. */
export interface CheckpointSource {
  state: string;
  /** Latest block of the state, if configured separately. */
  block: string | undefined;
  /** Base URL of a Beacon API that serves the block. */
  api: string | undefined;
  /** Block that the state must belong to. Undefined if the source is trusted. */
  pin?: CheckpointPin | undefined;
}

/**
 * Loads the latest block of an anchor state from its configured source, or from the beacon node that served the state.
 * The node can run without the block but cannot serve it.
 */
export async function loadAnchorBlock(
  { block, api }: CheckpointSource,
  { state, config }: Pick<LoadedState, "state" | "config">,
  { logger, signal }: { logger: Logger; signal?: AbortSignal },
): Promise<SignedBeaconBlock | undefined> {
  const header = latestBlockHeader(state);
  const root = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header));
  if (block !== undefined) return readGivenBlock(block, config, root, signal);
  if (header.slot === 0) return undefined;
  if (api === undefined) {
    logger.info("No checkpoint block given, not serving it", { root });
    return undefined;
  }
  try {
    return await readBlock(new URL(`eth/v2/beacon/blocks/${root}`, api).href, config, root, signal);
  } catch (error) {
    signal?.throwIfAborted();
    logger.warn("Checkpoint block download failed, not serving it", {
      root,
      error,
    });
    return undefined;
  }
}

/** Reads an explicitly configured block. Throws if it is unavailable. */
async function readGivenBlock(
  source: string,
  config: BeaconConfig,
  root: string,
  signal: AbortSignal | undefined,
): Promise<SignedBeaconBlock> {
  try {
    return await readBlock(source, config, root, signal);
  } catch (error) {
    throw new StartError("unreadableInput", `The block ${source} cannot be used: ${messageOf(error)}.`, error);
  }
}

async function readBlock(
  source: string,
  config: BeaconConfig,
  root: string,
  signal: AbortSignal | undefined,
): Promise<SignedBeaconBlock> {
  const signed = deserializeSignedBlock(config, await readSsz(source, { ...BLOCK_LIMITS, signal }));
  const received = blockRoot(config, signed.message);
  if (received !== root) throw new Error(`it is block ${received}, but the latest block of the state is ${root}`);
  return signed;
}
