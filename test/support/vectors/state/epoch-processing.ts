import type { ForkSeq } from "@lodestar/params";
import {
  beforeProcessEpoch,
  type CachedBeaconStateAltair,
  type CachedBeaconStateFulu,
  type CachedBeaconStateGloas,
  type EpochTransitionCache,
} from "@lodestar/state-transition";
import {
  processBuilderPendingPayments,
  processEffectiveBalanceUpdates,
  processEth1DataReset,
  processHistoricalSummariesUpdate,
  processInactivityUpdates,
  processJustificationAndFinalization,
  processParticipationFlagUpdates,
  processPendingConsolidations,
  processPendingDeposits,
  processProposerLookahead,
  processPtcWindow,
  processRandaoMixesReset,
  processRegistryUpdates,
  processRewardsAndPenalties,
  processSlashings,
  processSlashingsReset,
  processSyncCommitteeUpdates,
} from "@lodestar/state-transition/epoch";
import type { VectorCase } from "../vector-case.ts";
import { expectResult, forkSeqOf, preState } from "./vector-states.ts";

type Step = (state: CachedBeaconStateGloas, cache: EpochTransitionCache, fork: ForkSeq) => void;

/** Accepts functions whose type names an earlier fork. They read no field that gloas replaced. */
function step<State>(process: (state: State, cache: EpochTransitionCache, fork: ForkSeq) => void): Step {
  return (state, cache, fork) => process(state as unknown as State, cache, fork);
}

/** Steps of the epoch transition of gloas by handler (tests/formats/epoch_processing of the specification). */
const STEPS: Readonly<Record<string, Step>> = {
  builder_pending_payments: processBuilderPendingPayments,
  effective_balance_updates: (state, cache, fork) => void processEffectiveBalanceUpdates(fork, state, cache),
  eth1_data_reset: processEth1DataReset,
  historical_summaries_update: step(processHistoricalSummariesUpdate),
  inactivity_updates: step(processInactivityUpdates),
  justification_and_finalization: processJustificationAndFinalization,
  participation_flag_updates: processParticipationFlagUpdates,
  pending_consolidations: step(processPendingConsolidations),
  pending_deposits: step(processPendingDeposits),
  pending_deposits_churn: step(processPendingDeposits),
  proposer_lookahead: step<CachedBeaconStateFulu>((state, cache, fork) => processProposerLookahead(fork, state, cache)),
  ptc_window: processPtcWindow,
  randao_mixes_reset: processRandaoMixesReset,
  registry_updates: (state, cache, fork) => processRegistryUpdates(fork, state, cache),
  rewards_and_penalties: (state, cache) => processRewardsAndPenalties(state, cache),
  slashings: (state, cache) => void processSlashings(state, cache),
  slashings_reset: processSlashingsReset,
  sync_committee_updates: step<CachedBeaconStateAltair>((state, _cache, fork) =>
    processSyncCommitteeUpdates(fork, state),
  ),
};

export function runEpochStep(vector: VectorCase): void {
  const { handler } = vector.path;
  const process = STEPS[handler];
  if (!process) throw new Error(`There is no step ${handler} of the epoch transition.`);
  expectResult(vector, () => {
    const state = preState(vector);
    process(state, beforeProcessEpoch(state, { assertCorrectProgressiveBalances: true }), forkSeqOf(vector));
    return state;
  });
}
