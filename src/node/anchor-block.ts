import type { BeaconConfig } from "@lodestar/config";
import { type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../chain/anchor.ts";
import { blockRoot, deserializeSignedBlock } from "../chain/blocks/block-encoding.ts";
import { messageOf } from "../http-client/http-error.ts";
import type { Logger } from "../log/logger.ts";
import type { LoadedState } from "./anchor-state.ts";
import type { CheckpointPin } from "./checkpoint-pin.ts";
import { type ReadLimits, readSource } from "./read-source.ts";
import { StartError } from "./start-error.ts";

/** No block comes near this size. */
const BLOCK_LIMITS: ReadLimits = { idleMs: 30_000, maxBytes: 64 * 1024 ** 2 };

/** Where a node takes its first state from. Everything is an absolute path or an http(s) URL. */
export interface CheckpointSource {
  state: string;
  /** The newest block of the state, when it is given apart. */
  block: string | undefined;
  /** The base URL of a REST API that has the block. */
  api: string | undefined;
  /** The block that the state must be of; undefined for a source that is trusted. */
  pin?: CheckpointPin | undefined;
}

/**
 * The newest block that a checkpoint state has seen: the given one, or from the beacon node that served the state. The
 * chain can be followed without it; only questions for this one block go unanswered then.
 */
export async function readAnchorBlock(
  { block, api }: CheckpointSource,
  { state, config }: Pick<LoadedState, "state" | "config">,
  { logger, signal }: { logger: Logger; signal?: AbortSignal },
): Promise<SignedBeaconBlock | undefined> {
  const header = latestBlockHeader(state);
  const root = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header));
  if (block !== undefined) return readGivenBlock(block, config, root, signal);
  if (header.slot === 0) return undefined;
  if (api === undefined) {
    logger.info("The block of the checkpoint state is not in the state file, so this node cannot serve it", { root });
    return undefined;
  }
  try {
    return await readBlock(new URL(`eth/v2/beacon/blocks/${root}`, api).href, config, root, signal);
  } catch (error) {
    signal?.throwIfAborted();
    logger.warn("The block of the checkpoint state could not be fetched, so this node cannot serve it", {
      root,
      error,
    });
    return undefined;
  }
}

/** Unlike a block that is only looked for, one that was asked for by name must be there. */
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
  const signed = deserializeSignedBlock(config, await readSource(source, { ...BLOCK_LIMITS, signal }));
  const received = blockRoot(config, signed.message);
  if (received !== root) throw new Error(`it is block ${received}, and the newest block of the state is ${root}`);
  return signed;
}
