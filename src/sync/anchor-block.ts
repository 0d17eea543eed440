import type { RootHex } from "@lodestar/types";
import type { SyncPeers } from "../network/peers/sync-peers.ts";
import type { SyncChain } from "./sync-chain.ts";

/**
 * Fetches the anchor's block if the chain was started from a state without it: its payload cannot be imported without
 * the block. Does nothing for other blocks.
 */
export async function ensureAnchorBlock(
  { chain, peers }: { chain: SyncChain; peers: SyncPeers },
  root: RootHex,
  peerId: string,
  signal: AbortSignal,
): Promise<void> {
  if (chain.history.end?.root !== root || (await chain.blocks.signedByRoot(root))) return;
  const [block] = await peers.requests.blocksByRoot(peerId, [root], signal);
  // The backfill may have stored it in the meantime.
  if (block && chain.history.end?.root === root) await chain.history.prepend([block]);
}
