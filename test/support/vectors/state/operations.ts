import type { Type } from "@chainsafe/ssz";
import {
  type CachedBeaconStateCapella,
  type CachedBeaconStateGloas,
  getBlockRootAtSlot,
  processAttestationsAltair,
  verifySignatureSet,
} from "@lodestar/state-transition";
import {
  processAttesterSlashing,
  processBlockHeader,
  processBlsToExecutionChange,
  processBuilderDepositRequest,
  processBuilderExitRequest,
  processConsolidationRequest,
  processDepositRequest,
  processExecutionPayloadBid,
  processParentExecutionPayload,
  processProposerSlashing,
  processSyncAggregate,
  processVoluntaryExit,
  processWithdrawalRequest,
  processWithdrawals,
} from "@lodestar/state-transition/block";
import { ssz } from "@lodestar/types";
import {
  payloadAttestationSignatureSets,
  requireValidPayloadAttestations,
} from "../../../../src/chain/states/payload-attestations.ts";
import type { VectorCase } from "../vector-case.ts";
import { expectResult, forkSeqOf, preState, verifiesSignatures } from "./vector-states.ts";

type State = CachedBeaconStateGloas;
type Handler = (state: State, vector: VectorCase) => void;

/** Processes the operation in the file `name`. */
function operation<T>(
  name: string,
  type: Type<T>,
  process: (state: State, operation: T, vector: VectorCase) => void,
): Handler {
  return (state, vector) => process(state, vector.ssz(name, type), vector);
}

const voluntaryExit = operation("voluntary_exit", ssz.phase0.SignedVoluntaryExit, (state, exit, vector) =>
  processVoluntaryExit(forkSeqOf(vector), state, exit, verifiesSignatures(vector)),
);

/** Operations of gloas by handler (tests/formats/operations of the specification). */
const OPERATIONS: Readonly<Record<string, Handler>> = {
  attestation: operation("attestation", ssz.electra.Attestation, (state, attestation, vector) => {
    const { parent_slot } = vector.yamlOr<{ parent_slot?: number }>("meta", {});
    processAttestationsAltair(forkSeqOf(vector), state, [attestation], parent_slot ?? null, verifiesSignatures(vector));
  }),
  attester_slashing: operation("attester_slashing", ssz.electra.AttesterSlashing, (state, slashing, vector) =>
    processAttesterSlashing(forkSeqOf(vector), state, slashing, verifiesSignatures(vector)),
  ),
  block_header: operation("block", ssz.gloas.BeaconBlock, (state, block) => processBlockHeader(state, block)),
  bls_to_execution_change: operation("address_change", ssz.capella.SignedBLSToExecutionChange, (state, change) =>
    // The type names capella; nothing that gloas replaced is read.
    processBlsToExecutionChange(state as unknown as CachedBeaconStateCapella, change),
  ),
  builder_deposit_request: operation(
    "builder_deposit_request",
    ssz.gloas.BuilderDepositRequest,
    processBuilderDepositRequest,
  ),
  builder_exit_request: operation("builder_exit_request", ssz.gloas.BuilderExitRequest, processBuilderExitRequest),
  consolidation_request: operation(
    "consolidation_request",
    ssz.electra.ConsolidationRequest,
    processConsolidationRequest,
  ),
  deposit_request: operation("deposit_request", ssz.electra.DepositRequest, (state, request, vector) =>
    processDepositRequest(forkSeqOf(vector), state, request),
  ),
  execution_payload_bid: operation(
    "execution_payload_bid",
    ssz.gloas.SignedExecutionPayloadBid,
    processExecutionPayloadBid,
  ),
  parent_execution_payload: operation("block", ssz.gloas.BeaconBlock, processParentExecutionPayload),
  payload_attestation: operation("payload_attestation", ssz.gloas.PayloadAttestation, (state, attestation, vector) => {
    const block = ssz.gloas.BeaconBlock.defaultValue();
    block.slot = state.slot;
    block.parentRoot = state.latestBlockHeader.parentRoot;
    block.body.payloadAttestations = [attestation];
    requireValidPayloadAttestations(block);
    const sets = verifiesSignatures(vector) ? payloadAttestationSignatureSets(state, block) : [];
    if (!sets.every((set) => verifySignatureSet(set, state.epochCtx.pubkeyCache)))
      throw new Error("Invalid signature.");
  }),
  proposer_slashing: operation("proposer_slashing", ssz.phase0.ProposerSlashing, (state, slashing, vector) =>
    processProposerSlashing(forkSeqOf(vector), state, slashing, verifiesSignatures(vector)),
  ),
  sync_aggregate: operation("sync_aggregate", ssz.altair.SyncAggregate, (state, syncAggregate, vector) => {
    const block = ssz.altair.BeaconBlock.defaultValue();
    block.slot = state.slot;
    block.parentRoot = getBlockRootAtSlot(state, Math.max(state.slot, 1) - 1);
    block.body.syncAggregate = syncAggregate;
    processSyncAggregate(state, block, verifiesSignatures(vector));
  }),
  voluntary_exit: voluntaryExit,
  voluntary_exit_churn: voluntaryExit,
  withdrawal_request: operation("withdrawal_request", ssz.electra.WithdrawalRequest, (state, request, vector) =>
    processWithdrawalRequest(forkSeqOf(vector), state, request),
  ),
  // Since gloas, withdrawals depend on the state alone.
  withdrawals: (state, vector) => processWithdrawals(forkSeqOf(vector), state),
};

export function runOperation(vector: VectorCase): void {
  const { handler } = vector.path;
  const process = OPERATIONS[handler];
  if (!process) throw new Error(`There is no operation ${handler}.`);
  expectResult(vector, () => {
    const state = preState(vector);
    process(state, vector);
    return state;
  });
}
