import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import {
  type CachedBeaconStateAllForks,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
  getBlockRootAtSlot,
} from "@lodestar/state-transition";
import { type Epoch, type RootHex, ssz, type ValidatorIndex } from "@lodestar/types";
import { fromHex, toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../../chain/anchor.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { committeePosition } from "../../chain/committee-positions.ts";
import { invalidParams } from "../../failure.ts";
import { requireSynced } from "../gate.ts";
import { lastKnownEpoch, stateForDuties } from "./duty-state.ts";
import { shown } from "./shown-number.ts";
import { stateForSyncCommittee } from "./sync-committee-state.ts";

type StandardDuties = Pick<
  ApplicationMethods<routes.validator.Endpoints>,
  "getAttesterDuties" | "getProposerDuties" | "getProposerDutiesV2" | "getSyncCommitteeDuties"
>;

/** Validators by index or by public key, mixed as the caller likes. */
export interface DutiesRequest {
  epoch: Epoch;
  validators: routes.beacon.ValidatorId[];
}

export type DutiesApi = StandardDuties & {
  getAttesterDutiesOf(request: DutiesRequest): ReturnType<StandardDuties["getAttesterDuties"]>;
  getSyncCommitteeDutiesOf(request: DutiesRequest): ReturnType<StandardDuties["getSyncCommitteeDuties"]>;
};

export function createDutiesApi(chain: BeaconChain): DutiesApi {
  const getAttesterDutiesOf: DutiesApi["getAttesterDutiesOf"] = async ({ epoch, validators }) => {
    requireSynced(chain);
    requireKnownEpoch(chain, epoch);
    const state = await stateForDuties(chain, epoch);
    return {
      data: attesterDuties(state, epoch, validators),
      meta: {
        dependentRoot: rootBeforeEpoch(state, epoch - 1),
        executionOptimistic: chain.status.isOptimistic,
      },
    };
  };

  const getSyncCommitteeDutiesOf: DutiesApi["getSyncCommitteeDutiesOf"] = async ({ epoch, validators }) => {
    requireSynced(chain);
    const state = await stateForSyncCommittee(chain, epoch);
    const { validatorIndexMap } = state.epochCtx.getIndexedSyncCommitteeAtEpoch(epoch);
    const data = [];
    for (const validatorIndex of indicesOf(state, validators)) {
      const positions = validatorIndexMap.get(validatorIndex);
      if (!positions) continue;
      data.push({
        pubkey: pubkeyOf(state, validatorIndex),
        validatorIndex,
        validatorSyncCommitteeIndices: positions,
      });
    }
    return { data, meta: { executionOptimistic: chain.status.isOptimistic } };
  };

  /** `dependsOn` is the epoch before which the deciding block was made. */
  const getProposerDutiesOf = async (
    epoch: Epoch,
    dependsOn: Epoch,
  ): Promise<{
    data: routes.validator.ProposerDuty[];
    meta: { dependentRoot: RootHex; executionOptimistic: boolean };
  }> => {
    requireSynced(chain);
    requireKnownEpoch(chain, epoch);
    const state = await stateForDuties(chain, epoch);
    const startSlot = computeStartSlotAtEpoch(epoch);
    const proposers =
      computeEpochAtSlot(state.slot) === epoch
        ? state.epochCtx.getBeaconProposers()
        : state.epochCtx.getBeaconProposersNextEpoch();
    return {
      data: proposers.map((validatorIndex, i) => ({
        pubkey: pubkeyOf(state, validatorIndex),
        validatorIndex,
        slot: startSlot + i,
      })),
      meta: { dependentRoot: rootBeforeEpoch(state, dependsOn), executionOptimistic: chain.status.isOptimistic },
    };
  };

  return {
    getAttesterDuties: ({ epoch, indices }) => getAttesterDutiesOf({ epoch, validators: indices }),
    getAttesterDutiesOf,

    getProposerDuties: ({ epoch }) => getProposerDutiesOf(epoch, epoch),
    /** Since fulu proposers are decided an epoch ahead, and the second version says by which block for every fork. */
    getProposerDutiesV2: ({ epoch }) => getProposerDutiesOf(epoch, epoch - 1),

    getSyncCommitteeDuties: ({ epoch, indices }) => getSyncCommitteeDutiesOf({ epoch, validators: indices }),
    getSyncCommitteeDutiesOf,
  };
}

function requireKnownEpoch(chain: BeaconChain, epoch: Epoch): void {
  const lastEpoch = lastKnownEpoch(chain);
  if (epoch > lastEpoch) {
    throw invalidParams(`Duties of epoch ${shown(epoch)} are not known yet: the last known epoch is ${lastEpoch}.`);
  }
}

/** By slot, then committee, then position; whoever has no duty in the epoch is left out. */
function attesterDuties(
  state: CachedBeaconStateAllForks,
  epoch: Epoch,
  validators: readonly routes.beacon.ValidatorId[],
): routes.validator.AttesterDuty[] {
  const shuffling = state.epochCtx.getShufflingAtEpoch(epoch);
  const duties = [];
  for (const validatorIndex of indicesOf(state, validators)) {
    const place = committeePosition(shuffling, validatorIndex);
    if (!place) continue;
    duties.push({
      pubkey: pubkeyOf(state, validatorIndex),
      validatorIndex,
      committeeIndex: place.committeeIndex,
      committeeLength: place.committeeLength,
      committeesAtSlot: shuffling.committeesPerSlot,
      validatorCommitteeIndex: place.position,
      slot: place.slot,
    });
  }
  return duties.sort(
    (a, b) =>
      a.slot - b.slot || a.committeeIndex - b.committeeIndex || a.validatorCommitteeIndex - b.validatorCommitteeIndex,
  );
}

/** Each once; keys that no validator has are left out. */
function indicesOf(
  { epochCtx }: CachedBeaconStateAllForks,
  validators: readonly routes.beacon.ValidatorId[],
): Set<ValidatorIndex> {
  const indices = new Set<ValidatorIndex>();
  for (const id of validators) {
    const index = typeof id === "number" ? id : epochCtx.getValidatorIndex(fromHex(id));
    if (index !== null) indices.add(index);
  }
  return indices;
}

function pubkeyOf(state: CachedBeaconStateAllForks, validator: ValidatorIndex): Uint8Array {
  return state.validators.getReadonly(validator).pubkey;
}

/**
 * The block that decides what lies an epoch ahead: the last one before the epoch, or genesis. The state itself remembers
 * it, also where the node's history began after that block.
 */
function rootBeforeEpoch(state: CachedBeaconStateAllForks, epoch: Epoch): RootHex {
  const slot = Math.max(0, computeStartSlotAtEpoch(Math.max(0, epoch)) - 1);
  if (slot < state.slot) return toRootHex(getBlockRootAtSlot(state, slot));
  return toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(latestBlockHeader(state)));
}
