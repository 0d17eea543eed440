import type { BeaconConfig } from "@lodestar/config";
import { type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../chain/anchor.ts";
import { blockRoot, deserializeSignedBlock } from "../chain/blocks/block-encoding.ts";
import type { Logger } from "../log/logger.ts";
import type { LoadedState } from "./anchor-state.ts";
import { readSource } from "./read-source.ts";
import { StartError } from "./start-error.ts";

const DOWNLOAD_TIMEOUT_MS = 30_000;

/** Where a node takes its first state from. Everything is an absolute path or an http(s) URL. */
export interface CheckpointSource {
  state: string;
  /** The newest block of the state, when it is given apart. */
  block: string | undefined;
  /** The base URL of a REST API that has the block. */
  api: string | undefined;
}

/**
 * The newest block that a checkpoint state has seen: the given one, or from the beacon node that served the state. The
 * chain can be followed without it; only questions for this one block go unanswered then.
 */
export async function readAnchorBlock(
  { block, api }: CheckpointSource,
  { state, config }: LoadedState,
  logger: Logger,
): Promise<SignedBeaconBlock | undefined> {
  const header = latestBlockHeader(state);
  const root = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header));
  if (block !== undefined) return readGivenBlock(block, config, root);
  if (header.slot === 0) return undefined;
  if (api === undefined) {
    logger.info("The block of the checkpoint state is not in the state file, so this node cannot serve it", { root });
    return undefined;
  }
  try {
    return await readBlock(new URL(`eth/v2/beacon/blocks/${root}`, api).href, config, root);
  } catch (error) {
    logger.warn("The block of the checkpoint state could not be fetched, so this node cannot serve it", {
      root,
      error,
    });
    return undefined;
  }
}

/** Unlike a block that is only looked for, one that was asked for by name must be there. */
async function readGivenBlock(source: string, config: BeaconConfig, root: string): Promise<SignedBeaconBlock> {
  try {
    return await readBlock(source, config, root);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError("unreadableInput", `The block ${source} cannot be used: ${reason}.`, error);
  }
}

async function readBlock(source: string, config: BeaconConfig, root: string): Promise<SignedBeaconBlock> {
  const signed = deserializeSignedBlock(config, await readSource(source, DOWNLOAD_TIMEOUT_MS));
  const received = blockRoot(config, signed.message);
  if (received !== root) throw new Error(`it is block ${received}, and the newest block of the state is ${root}`);
  return signed;
}
