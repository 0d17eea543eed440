import {
  MAX_ATTESTATIONS_ELECTRA,
  MAX_ATTESTER_SLASHINGS_ELECTRA,
  MAX_BLS_TO_EXECUTION_CHANGES,
  MAX_BUILDER_DEPOSIT_REQUESTS_PER_PAYLOAD,
  MAX_BUILDER_EXIT_REQUESTS_PER_PAYLOAD,
  MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD,
  MAX_PAYLOAD_ATTESTATIONS,
  MAX_PROPOSER_SLASHINGS,
  MAX_VOLUNTARY_EXITS,
  MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD,
} from "@lodestar/params";
import type { gloas } from "@lodestar/types";
import { reject } from "../outcome.ts";

// Progressive lists have no limit of their own, so gossip checks the limits that the types had before (EIP-7688).

/** gloas/p2p-interface.md, verify_block_body_operation_limits and verify_execution_requests_limits. */
export function refuseTooManyOperations(body: gloas.BeaconBlockBody, what: string): void {
  refuseOver(what, "proposer slashings", body.proposerSlashings, MAX_PROPOSER_SLASHINGS);
  refuseOver(what, "attester slashings", body.attesterSlashings, MAX_ATTESTER_SLASHINGS_ELECTRA);
  refuseOver(what, "attestations", body.attestations, MAX_ATTESTATIONS_ELECTRA);
  refuseOver(what, "deposits", body.deposits, 0);
  refuseOver(what, "voluntary exits", body.voluntaryExits, MAX_VOLUNTARY_EXITS);
  refuseOver(what, "changes of withdrawal credentials", body.blsToExecutionChanges, MAX_BLS_TO_EXECUTION_CHANGES);
  refuseOver(what, "payload attestations", body.payloadAttestations, MAX_PAYLOAD_ATTESTATIONS);
  refuseTooManyRequests(body.parentExecutionRequests, what);
}

/** gloas/p2p-interface.md, verify_execution_requests_limits. */
export function refuseTooManyRequests(requests: gloas.ExecutionRequests, what: string): void {
  refuseOver(what, "withdrawal requests", requests.withdrawals, MAX_WITHDRAWAL_REQUESTS_PER_PAYLOAD);
  refuseOver(what, "consolidation requests", requests.consolidations, MAX_CONSOLIDATION_REQUESTS_PER_PAYLOAD);
  refuseOver(what, "builder deposit requests", requests.builderDeposits, MAX_BUILDER_DEPOSIT_REQUESTS_PER_PAYLOAD);
  refuseOver(what, "builder exit requests", requests.builderExits, MAX_BUILDER_EXIT_REQUESTS_PER_PAYLOAD);
}

/** Rejects an object with a list that is longer than its limit. */
export function refuseOver(what: string, items: string, list: { readonly length: number }, limit: number): void {
  if (list.length <= limit) return;
  throw reject("too-many-operations", `${what} has ${list.length} ${items}; the limit is ${limit}.`);
}
