import type { Logger } from "../../log/logger.ts";
import type { Sync } from "../../sync/sync.ts";
import type { DevValidators } from "./validators.ts";

/** What validators ask of their node's sync before they act. */
export type PeerSync = Pick<Sync, "isInformed" | "isSyncing">;

interface SyncedValidatorsParts {
  validators: DevValidators;
  sync: PeerSync;
  /** Whether the chain begins with this node, so that there is nobody to wait for. */
  isFounder: boolean;
  logger: Logger;
}

/**
 * Validators that share a chain with those of other nodes. They act only while their node has caught up with its peers,
 * and not before it has heard of any: what they sign about an old view of the chain is of no use to anybody, and a block
 * on it splits the chain.
 */
export function whileSynced({ validators, sync, isFounder, logger }: SyncedValidatorsParts): DevValidators {
  let acted: boolean | undefined;

  function mayAct(): boolean {
    const may = sync.isInformed ? !sync.isSyncing : isFounder;
    if (may !== acted)
      logger.info(may ? "The validators do their duties" : "The validators wait until the node is synced");
    acted = may;
    return may;
  }

  return {
    async onSlot(slot, pace) {
      if (mayAct()) await validators.onSlot(slot, pace);
    },
    onHead: (head) => validators.onHead(head),
    close: () => validators.close(),
  };
}
