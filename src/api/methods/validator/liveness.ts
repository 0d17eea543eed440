import { ForkSeq, SLOTS_PER_EPOCH } from "@lodestar/params";
import {
  type CachedBeaconStateAltair,
  type CachedBeaconStatePhase0,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { Epoch, ValidatorIndex } from "@lodestar/types";
import type { BeaconChain } from "../../../chain/chain.ts";

type WasSeen = (validator: ValidatorIndex) => boolean;

/** Returns a predicate for validators that the node has observed attesting, aggregating or proposing in an epoch. */
export function livenessIn(chain: BeaconChain, epoch: Epoch): WasSeen {
  const sources = [seenSigning(chain, epoch), attestedOnChain(chain, epoch), seenProposing(chain, epoch)];
  return (validator) => sources.some((wasSeen) => wasSeen(validator));
}

/** Validators whose attestations or aggregates were received through gossip or the API. */
function seenSigning({ pools }: BeaconChain, epoch: Epoch): WasSeen {
  const { attesters, aggregators } = pools.seen;
  return (validator) => attesters.has(epoch, validator) || aggregators.has(epoch, validator);
}

function seenProposing({ pools }: BeaconChain, epoch: Epoch): WasSeen {
  const firstSlot = computeStartSlotAtEpoch(epoch);
  const slots = Array.from({ length: SLOTS_PER_EPOCH }, (_, i) => firstSlot + i);
  return (validator) => slots.some((slot) => pools.seen.blockProposers.root(slot, validator) !== undefined);
}

/** Validators with attestations on the head's chain, including attestations from before the node was started. */
function attestedOnChain({ headState }: BeaconChain, epoch: Epoch): WasSeen {
  const stateEpoch = computeEpochAtSlot(headState.slot);
  if (epoch !== stateEpoch && epoch !== stateEpoch - 1) return () => false;
  if (headState.config.getForkSeq(headState.slot) >= ForkSeq.altair) {
    const { currentEpochParticipation, previousEpochParticipation } = headState as CachedBeaconStateAltair;
    const flags = epoch === stateEpoch ? currentEpochParticipation : previousEpochParticipation;
    // Flags are read on demand, because copying all of them would dominate most calls.
    return (validator) => validator < flags.length && flags.get(validator) !== 0;
  }
  const { currentEpochAttestations, previousEpochAttestations, epochCtx } = headState as CachedBeaconStatePhase0;
  const attestations = epoch === stateEpoch ? currentEpochAttestations : previousEpochAttestations;
  const attesters = new Set<ValidatorIndex>();
  for (const { data, aggregationBits } of attestations.getAllReadonlyValues()) {
    const committee = epochCtx.getBeaconCommittee(data.slot, data.index);
    for (const [position, validator] of committee.entries()) {
      if (aggregationBits.get(position)) attesters.add(validator);
    }
  }
  return (validator) => attesters.has(validator);
}
