import type { RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { bidOf } from "../../chain/blocks/bid.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { executionBlockOf } from "../../chain/fork-choice/types.ts";
import type { PayloadHistory } from "../../evm/engine/history.ts";

/** Reads the payloads of stored beacon blocks. */
export function chainPayloads({ blocks, forkChoice, payloadStore }: BeaconChain): PayloadHistory {
  return {
    rootOf: async (blockHash) => {
      for (const block of forkChoice.all()) if (executionBlockOf(block)?.blockHash === blockHash) return block.root;
      return undefined;
    },
    holderOf: async (blockHash, from) => {
      for (let root: RootHex = from; ; ) {
        const signed = await blocks.signedByRoot(root);
        if (signed === null) return undefined;
        const bid = bidOf(signed.message);
        if (!bid || toRootHex(bid.blockHash) === blockHash) return root;
        root = toRootHex(signed.message.parentRoot);
      }
    },
    read: async (root) => {
      const signed = await blocks.signedByRoot(root);
      return signed && payloadStore.payloadOf(signed, root);
    },
  };
}
