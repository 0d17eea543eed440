import type { ForkName, ForkSeq } from "@lodestar/params";
import type { AttesterSlashing, capella, phase0, ValidatorIndex } from "@lodestar/types";

/** An operation with cached signature verdicts. */
export interface Signed<Operation> {
  readonly operation: Operation;
  /** Verdicts by fork: the signing domain depends on the state only through its fork. */
  readonly signatureVerdicts: Map<ForkSeq, boolean>;
}

export interface HeldAttesterSlashing extends Signed<AttesterSlashing> {
  /** Fork that determines the encoding. */
  readonly fork: ForkName;
  readonly slashableIndices: ValidatorIndex[];
}

export interface HeldOperations {
  readonly proposerSlashings: Map<ValidatorIndex, Signed<phase0.ProposerSlashing>>;
  readonly attesterSlashings: Map<string, HeldAttesterSlashing>;
  readonly voluntaryExits: Map<ValidatorIndex, Signed<phase0.SignedVoluntaryExit>>;
  readonly blsToExecutionChanges: Map<ValidatorIndex, capella.SignedBLSToExecutionChange>;
}
