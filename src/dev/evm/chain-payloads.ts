import type { ForkPostBellatrix } from "@lodestar/params";
import type { electra } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import type { PayloadHistory } from "../../evm/engine/history.ts";
import { versionedHashesOf } from "../../execution/engine.ts";

/** Reads the payloads of stored beacon blocks. */
export function chainPayloads({ config, blocks, forkChoice }: BeaconChain): PayloadHistory {
  return {
    rootOf: async (blockHash) => {
      for (const { root, execution } of forkChoice.all()) {
        if (execution.status !== "pre-merge" && execution.blockHash === blockHash) return root;
      }
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
