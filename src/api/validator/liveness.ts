import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  BeaconStateView,
  type CachedBeaconStatePhase0,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  isStatePostAltair,
} from "@lodestar/state-transition";
import type { Epoch, ValidatorIndex } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { invalidParams } from "../../failure.ts";
import { requireSynced } from "../gate.ts";
import { shown } from "./shown-number.ts";

export type LivenessApi = Pick<ApplicationMethods<routes.validator.Endpoints>, "getLiveness">;

type WasSeen = (validator: ValidatorIndex) => boolean;

/** Whether validators did anything in an epoch, as far as this node noticed: the standard asks for no more. */
export function createLivenessApi(chain: BeaconChain): LivenessApi {
  return {
    async getLiveness({ epoch, indices }) {
      requireSynced(chain);
      const { currentEpoch } = chain.clock;
      if (epoch > currentEpoch || epoch < currentEpoch - 1) {
        throw invalidParams(
          `Liveness can be told for the current epoch, ${currentEpoch}, and the one before it, but not for epoch ${shown(epoch)}.`,
        );
      }
      const { length } = chain.headState.validators;
      const unknown = indices.find((index) => index >= length);
      if (unknown !== undefined) throw invalidParams(`No validator has the index ${shown(unknown)}.`);
      const sources = [seenSigning(chain, epoch), seenProposing(chain, epoch), votedOnChain(chain, epoch)];
      return { data: indices.map((index) => ({ index, isLive: sources.some((wasSeen) => wasSeen(index)) })) };
    },
  };
}

/** By gossip or from this node's own clients. */
function seenSigning({ pools }: BeaconChain, epoch: Epoch): WasSeen {
  const { attesters, aggregators } = pools.seen;
  return (validator) => attesters.has(epoch, validator) || aggregators.has(epoch, validator);
}

function seenProposing({ pools }: BeaconChain, epoch: Epoch): WasSeen {
  const firstSlot = computeStartSlotAtEpoch(epoch);
  const slots = Array.from({ length: SLOTS_PER_EPOCH }, (_, i) => firstSlot + i);
  return (validator) => slots.some((slot) => pools.seen.blockProposers.root(slot, validator) !== undefined);
}

/** By the votes that the head's chain holds, also those that came before this node was started. */
function votedOnChain({ headState }: BeaconChain, epoch: Epoch): WasSeen {
  const stateEpoch = computeEpochAtSlot(headState.slot);
  if (epoch !== stateEpoch && epoch !== stateEpoch - 1) return () => false;
  const view = new BeaconStateView(headState);
  if (isStatePostAltair(view)) {
    const flags = epoch === stateEpoch ? view.currentEpochParticipation : view.previousEpochParticipation;
    return (validator) => (flags[validator] ?? 0) !== 0;
  }
  const { currentEpochAttestations, previousEpochAttestations, epochCtx } = headState as CachedBeaconStatePhase0;
  const votes = epoch === stateEpoch ? currentEpochAttestations : previousEpochAttestations;
  const voters = new Set<ValidatorIndex>();
  for (const { data, aggregationBits } of votes.getAllReadonlyValues()) {
    const committee = epochCtx.getBeaconCommittee(data.slot, data.index);
    for (const [position, validator] of committee.entries()) if (aggregationBits.get(position)) voters.add(validator);
  }
  return (validator) => voters.has(validator);
}
