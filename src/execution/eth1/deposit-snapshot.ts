import { ContainerType, ListCompositeType, type ValueOf } from "@chainsafe/ssz";
import { DEPOSIT_CONTRACT_TREE_DEPTH } from "@lodestar/params";
import { ssz } from "@lodestar/types";

/** EIP-4881, DepositTreeSnapshot: enough to continue the deposit tree after a block. */
export const DepositTreeSnapshotType = new ContainerType(
  {
    finalized: new ListCompositeType(ssz.Root, DEPOSIT_CONTRACT_TREE_DEPTH),
    depositRoot: ssz.Root,
    depositCount: ssz.UintNum64,
    executionBlockHash: ssz.Root,
    executionBlockHeight: ssz.UintNum64,
  },
  { typeName: "DepositTreeSnapshot", jsonCase: "eth2" },
);

export type DepositTreeSnapshot = ValueOf<typeof DepositTreeSnapshotType>;
