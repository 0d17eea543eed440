import { GENESIS_SLOT } from "@lodestar/params";
import type { CachedBeaconStateAllForks, CachedBeaconStateGloas } from "@lodestar/state-transition";
import type { BeaconBlock, capella, RootHex, Slot } from "@lodestar/types";
import { byteArrayEquals, toRootHex } from "@lodestar/utils";
import { bidOf } from "../blocks/bid.ts";
import type { BlockStore } from "../blocks/block-store.ts";
import type { PayloadStore } from "../payloads/payload-store.ts";

interface WithdrawalParts {
  blocks: Pick<BlockStore, "signedByRoot">;
  payloadStore: Pick<PayloadStore, "get">;
  /** State after the newest block. */
  state: CachedBeaconStateAllForks;
  /** Root of the newest block. */
  blockRoot: RootHex;
}

/**
 * Iterates the withdrawals that the blocks after a slot deducted from balances, newest first. Since gloas, a block on the
 * payload of its parent deducts what its own payload will withdraw, whether or not that is revealed; a block without the
 * payload of its parent deducts nothing, and its payload has the withdrawals of its parent again.
 */
export async function* withdrawalsSince(
  since: Slot,
  { blocks, payloadStore, state, blockRoot }: WithdrawalParts,
): AsyncGenerator<readonly capella.Withdrawal[]> {
  let ofPayload = expectedOf(state);
  let block = (await blocks.signedByRoot(blockRoot))?.message;
  while (block && block.slot > since) {
    const parentRoot = toRootHex(block.parentRoot);
    const parent: BeaconBlock | undefined = (await blocks.signedByRoot(parentRoot))?.message;
    if (!bidOf(block)) {
      yield withdrawalsIn(block);
    } else if (!parent || isBuiltOnPayload(block, parent)) {
      yield ofPayload;
      ofPayload = (await payloadStore.get(parentRoot))?.message.payload.withdrawals ?? [];
    }
    block = parent;
  }
}

function expectedOf(state: CachedBeaconStateAllForks): readonly capella.Withdrawal[] {
  const { payloadExpectedWithdrawals } = state as Partial<CachedBeaconStateGloas>;
  return payloadExpectedWithdrawals?.getAllReadonlyValues() ?? [];
}

/** The payload of a block from before gloas is a part of it, and genesis has none. */
function isBuiltOnPayload(block: BeaconBlock, parent: BeaconBlock): boolean {
  const bid = bidOf(block);
  const parentBid = bidOf(parent);
  if (!bid || !parentBid || parent.slot === GENESIS_SLOT) return true;
  return byteArrayEquals(bid.parentBlockHash, parentBid.blockHash);
}

function withdrawalsIn({ body }: BeaconBlock): readonly capella.Withdrawal[] {
  return "executionPayload" in body && "withdrawals" in body.executionPayload ? body.executionPayload.withdrawals : [];
}
