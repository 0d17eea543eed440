import type { Slot } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import type { Clock } from "../../chain/clock/clock.ts";
import type { Logger } from "../../log/logger.ts";
import type { DevValidators } from "./validators.ts";

interface SyncGateDeps {
  validators: DevValidators;
  status: Pick<BeaconChain["status"], "isSyncing">;
  logger: Logger;
}

/** True if the slot ended at least one slot ago by the wall clock, in which case its duties would come too late. */
export function isExpired(
  clock: Pick<Clock, "nowSeconds" | "offsetSeconds" | "slotStartSeconds">,
  slot: Slot,
): boolean {
  return clock.nowSeconds() - clock.offsetSeconds() >= clock.slotStartSeconds(slot + 2);
}

/**
 * Suspends validators on a shared chain while their node is syncing. Votes for an outdated head are useless, and a
 * block built on such a head splits the chain.
 */
export function gateOnSync({ validators, status, logger }: SyncGateDeps): DevValidators {
  let acted: boolean | undefined;

  function mayAct(): boolean {
    const may = !status.isSyncing;
    if (may !== acted) logger.info(may ? "Validators active" : "Validators waiting for sync");
    acted = may;
    return may;
  }

  return {
    async onSlot(slot, timing) {
      if (mayAct()) await validators.onSlot(slot, timing);
    },
    onHead: (head) => validators.onHead(head),
    onReverted: () => validators.onReverted(),
    captureLate: () => validators.captureLate(),
    close: () => validators.close(),
  };
}
