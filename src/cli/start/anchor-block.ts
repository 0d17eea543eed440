import type { BeaconConfig } from "@lodestar/config";
import { type SignedBeaconBlock, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../../chain/anchor.ts";
import { deserializeSignedBlock } from "../../chain/blocks/block-bytes.ts";
import type { Logger } from "../../log/logger.ts";
import { isUrl, type LoadedState } from "./state-source.ts";

const DOWNLOAD_TIMEOUT_MS = 30_000;

/**
 * The newest block that a checkpoint state has seen, from the beacon node that served the state. The chain can be
 * followed without it; only questions for this one block go unanswered then.
 */
export async function fetchAnchorBlock(
  source: string,
  { state, config }: LoadedState,
  logger: Logger,
): Promise<SignedBeaconBlock | undefined> {
  const header = latestBlockHeader(state);
  const root = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header));
  if (header.slot === 0) return undefined;
  if (!isUrl(source)) {
    logger.info("The block of the checkpoint state is not in the state file, so this node cannot serve it", { root });
    return undefined;
  }
  try {
    return await download(new URL(`/eth/v2/beacon/blocks/${root}`, source), config, root);
  } catch (error) {
    logger.warn("The block of the checkpoint state could not be fetched, so this node cannot serve it", {
      root,
      error,
    });
    return undefined;
  }
}

async function download(url: URL, config: BeaconConfig, root: string): Promise<SignedBeaconBlock> {
  const response = await fetch(url, {
    headers: { accept: "application/octet-stream" },
    signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`The server answered ${response.status} ${response.statusText}.`);
  const signed = deserializeSignedBlock(config, new Uint8Array(await response.arrayBuffer()));
  const received = toRootHex(config.getForkTypes(signed.message.slot).BeaconBlock.hashTreeRoot(signed.message));
  if (received !== root) throw new Error(`The server answered with block ${received}.`);
  return signed;
}
