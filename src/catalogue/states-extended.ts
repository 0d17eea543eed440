import { defineEntry, get, optional, post, required } from "./entry.ts";
import { arrayOf } from "./params/arrays.ts";
import { stateId, validatorId } from "./params/identifiers.ts";
import { epoch } from "./params/integers.ts";
import { validatorFilter } from "./params/registry-filter.ts";

const STATE_ID = required(stateId, "Which state: head, genesis, finalized, justified, a slot or a state root.");
const IDS = optional(
  arrayOf(validatorId, { noun: "validator ids" }),
  "Only these validators, each by index or public key; by default all.",
);

/** Questions about a state that the interface document does not number. */
export const extendedStateEntries = [
  defineEntry({
    number: null,
    name: "post_v1_beacon_states_stateId_validators",
    summary: "Validators of a state like get_v1_beacon_states_stateId_validators, for as many ids as one likes.",
    params: {
      state_id: STATE_ID,
      filter: required(validatorFilter, "Only validators with these ids and statuses; a list left out means all."),
    },
    rest: post("/eth/v1/beacon/states/{state_id}/validators"),
    invoke: ({ operations }, { state_id, filter }) =>
      operations.beacon.postStateValidators({
        stateId: state_id,
        validatorIds: filter.ids,
        statuses: filter.statuses,
      }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_beacon_states_stateId_validator_balances",
    summary: "Balances like get_v1_beacon_states_stateId_validator_balances, for as many ids as one likes.",
    params: { state_id: STATE_ID, ids: IDS },
    rest: post("/eth/v1/beacon/states/{state_id}/validator_balances"),
    invoke: ({ operations }, { state_id, ids }) =>
      operations.beacon.postStateValidatorBalances({ stateId: state_id, validatorIds: ids }),
  }),
  defineEntry({
    number: null,
    name: "post_v1_beacon_states_stateId_validator_identities",
    summary: "Index, public key and activation epoch of the validators of a state, by ascending index.",
    params: { state_id: STATE_ID, ids: IDS },
    rest: post("/eth/v1/beacon/states/{state_id}/validator_identities"),
    invoke: ({ operations }, { state_id, ids }) =>
      operations.beacon.postStateValidatorIdentities({ stateId: state_id, validatorIds: ids }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_states_stateId_sync_committees",
    summary: "The members of a sync committee in order, together and by subcommittee; from altair on.",
    params: { state_id: STATE_ID, epoch: optional(epoch, "By default the epoch of the state.") },
    rest: get("/eth/v1/beacon/states/{state_id}/sync_committees"),
    invoke: ({ operations }, { state_id, epoch }) =>
      operations.beacon.getEpochSyncCommittees({ stateId: state_id, epoch }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_states_stateId_randao",
    summary: "The RANDAO mix of an epoch as a state holds it.",
    params: { state_id: STATE_ID, epoch: optional(epoch, "By default the epoch of the state.") },
    rest: get("/eth/v1/beacon/states/{state_id}/randao"),
    invoke: ({ operations }, { state_id, epoch }) => operations.beacon.getStateRandao({ stateId: state_id, epoch }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_states_stateId_pending_consolidations",
    summary: "The consolidations of validators that a state has in its queue; from electra on.",
    params: { state_id: STATE_ID },
    rest: get("/eth/v1/beacon/states/{state_id}/pending_consolidations"),
    invoke: ({ operations }, { state_id }) => operations.beacon.getPendingConsolidations({ stateId: state_id }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_states_stateId_pending_deposits",
    summary: "The deposits that a state has in its queue; from electra on.",
    params: { state_id: STATE_ID },
    rest: get("/eth/v1/beacon/states/{state_id}/pending_deposits"),
    invoke: ({ operations }, { state_id }) => operations.beacon.getPendingDeposits({ stateId: state_id }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_states_stateId_pending_partial_withdrawals",
    summary: "The partial withdrawals that a state has in its queue; from electra on.",
    params: { state_id: STATE_ID },
    rest: get("/eth/v1/beacon/states/{state_id}/pending_partial_withdrawals"),
    invoke: ({ operations }, { state_id }) => operations.beacon.getPendingPartialWithdrawals({ stateId: state_id }),
  }),
  defineEntry({
    number: null,
    name: "get_v1_beacon_states_stateId_proposer_lookahead",
    summary: "The proposers of the state's epoch and of the next one, slot by slot; from fulu on.",
    params: { state_id: STATE_ID },
    rest: get("/eth/v1/beacon/states/{state_id}/proposer_lookahead"),
    invoke: ({ operations }, { state_id }) => operations.beacon.getProposerLookahead({ stateId: state_id }),
  }),
];
