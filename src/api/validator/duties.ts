import type { routes } from "@lodestar/api";
import type { ApplicationMethods } from "@lodestar/api/server";
import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, ForkSeq } from "@lodestar/params";
import {
  type CachedBeaconStateAllForks,
  type CachedBeaconStateAltair,
  computeEpochAtSlot,
  computeStartSlotAtEpoch,
} from "@lodestar/state-transition";
import type { Epoch, ValidatorIndex } from "@lodestar/types";
import type { BeaconChain } from "../../chain/chain.ts";
import { committeePosition } from "../../chain/committee-positions.ts";
import { invalidParams, notFound, unavailable } from "../../errors.ts";
import { requireSynced } from "../gate.ts";

export type DutiesApi = Pick<
  ApplicationMethods<routes.validator.Endpoints>,
  "getAttesterDuties" | "getProposerDuties" | "getSyncCommitteeDuties"
>;

/** MAXIMUM_GOSSIP_CLOCK_DISPARITY of the p2p specification. */
const CLOCK_DISPARITY_MS = 500;

export function createDutiesApi(chain: BeaconChain): DutiesApi {
  return {
    async getAttesterDuties({ epoch, indices }) {
      requireSynced(chain);
      requireKnownEpoch(chain, epoch);
      const state = await stateForDuties(chain, epoch);
      const shuffling = state.epochCtx.getShufflingAtEpoch(epoch);
      const data = [];
      for (const validatorIndex of new Set(indices)) {
        const place = committeePosition(shuffling, validatorIndex);
        if (!place) continue;
        data.push({
          pubkey: pubkeyOf(state, validatorIndex),
          validatorIndex,
          committeeIndex: place.committeeIndex,
          committeeLength: place.committeeLength,
          committeesAtSlot: shuffling.committeesPerSlot,
          validatorCommitteeIndex: place.position,
          slot: place.slot,
        });
      }
      data.sort(
        (a, b) =>
          a.slot - b.slot ||
          a.committeeIndex - b.committeeIndex ||
          a.validatorCommitteeIndex - b.validatorCommitteeIndex,
      );
      return {
        data,
        meta: {
          dependentRoot: await rootBeforeEpoch(chain, epoch - 1),
          executionOptimistic: chain.status.isOptimistic,
        },
      };
    },

    async getProposerDuties({ epoch }) {
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
        meta: {
          dependentRoot: await rootBeforeEpoch(chain, epoch),
          executionOptimistic: chain.status.isOptimistic,
        },
      };
    },

    async getSyncCommitteeDuties({ epoch, indices }) {
      requireSynced(chain);
      if (chain.config.getForkSeq(computeStartSlotAtEpoch(epoch)) < ForkSeq.altair) {
        throw invalidParams(`There are no sync committees in epoch ${epoch}, which comes before the altair fork.`);
      }
      const state = await stateForSyncCommittee(chain, epoch);
      const { validatorIndexMap } = state.epochCtx.getIndexedSyncCommitteeAtEpoch(epoch);
      const data = [];
      for (const validatorIndex of new Set(indices)) {
        const positions = validatorIndexMap.get(validatorIndex);
        if (!positions) continue;
        data.push({
          pubkey: pubkeyOf(state, validatorIndex),
          validatorIndex,
          validatorSyncCommitteeIndices: positions,
        });
      }
      return { data, meta: { executionOptimistic: chain.status.isOptimistic } };
    },
  };
}

function requireKnownEpoch({ clock }: BeaconChain, epoch: Epoch): void {
  const currentEpoch = computeEpochAtSlot(clock.currentSlotWithTolerance(CLOCK_DISPARITY_MS));
  if (epoch > currentEpoch + 1) {
    throw invalidParams(`Duties of epoch ${epoch} are not known yet: the last known epoch is ${currentEpoch + 1}.`);
  }
}

/** A state of the head's chain from which the committees and proposers of the epoch follow. */
async function stateForDuties(chain: BeaconChain, epoch: Epoch): Promise<CachedBeaconStateAllForks> {
  const { head, headState, clock, states } = chain;
  const headEpoch = computeEpochAtSlot(head.slot);
  if (epoch === headEpoch) return headState;
  if (epoch < headEpoch) {
    const state = await states.canonicalAtSlot(computeStartSlotAtEpoch(epoch));
    if (!state) throw notFound(`The state of epoch ${epoch} is not in this node's history.`);
    return state;
  }
  // An epoch that has begun is judged by its own state; the next one by the state of the epoch before it.
  const startedEpoch = Math.min(epoch, Math.max(headEpoch, clock.currentEpoch));
  const stateEpoch = startedEpoch === epoch ? epoch : epoch - 1;
  return stateEpoch === headEpoch ? headState : states.afterBlock(head.root, computeStartSlotAtEpoch(stateEpoch));
}

async function stateForSyncCommittee(chain: BeaconChain, epoch: Epoch): Promise<CachedBeaconStateAltair> {
  const currentEpoch = Math.max(chain.clock.currentEpoch, computeEpochAtSlot(chain.head.slot));
  const state = await stateForDuties(chain, Math.min(epoch, currentEpoch));
  const period = (e: Epoch) => Math.floor(e / EPOCHS_PER_SYNC_COMMITTEE_PERIOD);
  if (period(epoch) > period(computeEpochAtSlot(state.slot)) + 1) {
    throw invalidParams(`The sync committee of epoch ${epoch} is not known yet.`);
  }
  if (!("currentSyncCommittee" in state)) {
    throw unavailable(`The sync committee of epoch ${epoch} is not known before the altair fork.`);
  }
  return state as CachedBeaconStateAltair;
}

function pubkeyOf(state: CachedBeaconStateAllForks, validator: ValidatorIndex): Uint8Array {
  return state.validators.getReadonly(validator).pubkey;
}

/** The block that decides what lies an epoch ahead: the last one before the epoch, or genesis. */
async function rootBeforeEpoch(chain: BeaconChain, epoch: Epoch): Promise<string> {
  const slot = Math.max(0, computeStartSlotAtEpoch(Math.max(0, epoch)) - 1);
  const root = await chain.blocks.rootAtOrBefore(slot);
  if (root === null) throw notFound(`The block before epoch ${epoch} is not in this node's history.`);
  return root;
}
