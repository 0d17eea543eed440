import type { ForkPostBellatrix } from "@lodestar/params";
import type { electra } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { executionBlockOf } from "../../chain/fork-choice/types.ts";
import type { PayloadHistory } from "../../evm/engine/history.ts";
import { versionedHashesOf } from "../../execution/engine.ts";

/** Reads the payloads of stored beacon blocks. */
export function chainPayloads({ config, blocks, forkChoice }: BeaconChain): PayloadHistory {
  return {
    rootOf: async (blockHash) => {
      for (const block of forkChoice.all()) if (executionBlockOf(block)?.blockHash === blockHash) return block.root;
      return undefined;
    },
    read: async (root) => {
      const signedBlock = await blocks.signedByRoot(root);
      if (signedBlock === null) return null;
      const { slot, parentRoot, body } = signedBlock.message;
      const { executionPayload, executionRequests, blobKzgCommitments = [] } = body as electra.BeaconBlockBody;
      if (executionPayload === undefined) return null;
      return {
        fork: config.getForkName(slot) as ForkPostBellatrix,
        payload: executionPayload,
        context: {
          parentBeaconBlockRoot: parentRoot,
          executionRequests,
          versionedHashes: versionedHashesOf(blobKzgCommitments),
        },
      };
    },
  };
}
