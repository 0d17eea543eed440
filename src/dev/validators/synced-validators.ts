import type { BeaconChain } from "../../chain/chain.ts";
import type { Logger } from "../../log/logger.ts";
import type { DevValidators } from "./validators.ts";

interface SyncedValidatorsParts {
  validators: DevValidators;
  status: Pick<BeaconChain["status"], "isSyncing">;
  logger: Logger;
}

/**
 * Validators that share a chain with those of other nodes. They act only while their node is synced: what they sign about
 * an old view of the chain is of no use to anybody, and a block on it splits the chain.
 */
export function whileSynced({ validators, status, logger }: SyncedValidatorsParts): DevValidators {
  let acted: boolean | undefined;

  function mayAct(): boolean {
    const may = !status.isSyncing;
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
    onGoneBack: () => validators.onGoneBack(),
    close: () => validators.close(),
  };
}
