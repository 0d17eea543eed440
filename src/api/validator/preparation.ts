import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, ForkName, SYNC_COMMITTEE_SIZE } from "@lodestar/params";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { Epoch } from "@lodestar/types";
import { fromHex } from "@lodestar/utils";
import type { BeaconChain } from "../../chain/chain.ts";
import { invalidParams, unsupported } from "../../failure.ts";
import { requireScheduled } from "../fork-support.ts";
import { shown } from "./shown-number.ts";
import { requireSyncCommittees } from "./sync-committee-state.ts";

export type PreparationApi = Pick<
  ApplicationMethods<routes.validator.Endpoints>,
  | "prepareBeaconProposer"
  | "registerValidator"
  | "prepareSyncCommitteeSubnets"
  | "submitBeaconCommitteeSelections"
  | "submitSyncCommitteeSelections"
>;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** What validator clients tell the node about duties to come. */
export function createPreparationApi(chain: BeaconChain): PreparationApi {
  return {
    /** Indices that nobody has yet are taken, too: the standard expects them to become validators. */
    async prepareBeaconProposer({ proposers }) {
      requireScheduled(chain.config, ForkName.bellatrix, "Execution payloads");
      const recipients = proposers.map(({ validatorIndex, feeRecipient }) => {
        if (!ADDRESS.test(feeRecipient)) {
          throw invalidParams(`The fee recipient of validator ${shown(validatorIndex)} is no execution address.`);
        }
        return { validatorIndex, address: fromHex(feeRecipient) };
      });
      for (const { validatorIndex, address } of recipients) {
        chain.preparations.prepare(validatorIndex, address, chain.clock.currentEpoch);
      }
    },

    /** Registrations of keys that no validator has are left out, as the standard wants it. */
    async registerValidator({ registrations }) {
      requireScheduled(chain.config, ForkName.bellatrix, "Execution payloads");
      for (const registration of registrations) {
        if (chain.headState.epochCtx.getValidatorIndex(registration.message.pubkey) === null) continue;
        chain.preparations.register(registration, chain.clock.currentEpoch);
      }
    },

    async prepareSyncCommitteeSubnets({ subscriptions }) {
      requireSyncCommittees(chain);
      for (const subscription of subscriptions) requireSoundSubscription(chain, subscription);
      const lastEpoch = endOfNextPeriod(currentEpochOf(chain));
      // None of them takes effect unless all are in order.
      for (const { syncCommitteeIndices, untilEpoch } of subscriptions) {
        chain.syncSubscriptions.add(syncCommitteeIndices, Math.min(untilEpoch, lastEpoch));
      }
    },

    async submitBeaconCommitteeSelections() {
      throw noDistributedValidators();
    },

    async submitSyncCommitteeSelections() {
      requireSyncCommittees(chain);
      throw noDistributedValidators();
    },
  };
}

function requireSoundSubscription(
  chain: BeaconChain,
  { validatorIndex, syncCommitteeIndices, untilEpoch }: routes.validator.SyncCommitteeSubscription,
): void {
  if (validatorIndex >= chain.headState.validators.length) {
    throw invalidParams(`No validator has the index ${shown(validatorIndex)}.`);
  }
  const tooHigh = syncCommitteeIndices.find((position) => position >= SYNC_COMMITTEE_SIZE);
  if (tooHigh !== undefined) {
    throw invalidParams(
      `A sync committee has ${SYNC_COMMITTEE_SIZE} members, so the position ${shown(tooHigh)} is too high.`,
    );
  }
  const currentEpoch = currentEpochOf(chain);
  if (untilEpoch < currentEpoch) {
    throw invalidParams(`Epoch ${untilEpoch} has passed: the current epoch is ${currentEpoch}.`);
  }
}

function currentEpochOf({ clock, head }: BeaconChain): Epoch {
  return Math.max(clock.currentEpoch, computeEpochAtSlot(head.slot));
}

/** No sync committee is known beyond the next period. */
function endOfNextPeriod(epoch: Epoch): Epoch {
  return (Math.floor(epoch / EPOCHS_PER_SYNC_COMMITTEE_PERIOD) + 2) * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
}

function noDistributedValidators() {
  return unsupported(
    "Selection proofs are combined by the middleware of distributed validators, which this node is not.",
  );
}
