import type { Slot } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import type { Clock } from "../../chain/clock/clock.ts";
import type { Logger } from "../../log/logger.ts";
import type { DevValidators } from "./validators.ts";

interface SyncedValidatorsParts {
  validators: DevValidators;
  status: Pick<BeaconChain["status"], "isSyncing">;
  logger: Logger;
}

/** Whether the slot ended more than a slot ago by the time of day: other validators have gone on without its duties. */
export function isLongPast(
  clock: Pick<Clock, "nowSeconds" | "offsetSeconds" | "slotStartSeconds">,
  slot: Slot,
): boolean {
  return clock.nowSeconds() - clock.offsetSeconds() >= clock.slotStartSeconds(slot + 2);
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
