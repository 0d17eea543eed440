import type { ForkName, ForkSeq } from "@lodestar/params";
import type { AttesterSlashing, capella, phase0, ValidatorIndex } from "@lodestar/types";

/** An operation whose signatures are verified by the fork of the state it is included on. */
export interface Signed<Operation> {
  readonly operation: Operation;
  /**
   * The domain of a signature depends on the state only through its fork, so a verdict is good for all states of that
   * fork, and must be made anew at the next one.
   */
  readonly signatureVerdicts: Map<ForkSeq, boolean>;
}

export interface HeldAttesterSlashing extends Signed<AttesterSlashing> {
  /** The fork in whose encoding it came. */
  readonly fork: ForkName;
  readonly slashableIndices: ValidatorIndex[];
}

export interface HeldOperations {
  readonly proposerSlashings: Map<ValidatorIndex, Signed<phase0.ProposerSlashing>>;
  readonly attesterSlashings: Map<string, HeldAttesterSlashing>;
  readonly voluntaryExits: Map<ValidatorIndex, Signed<phase0.SignedVoluntaryExit>>;
  readonly blsToExecutionChanges: Map<ValidatorIndex, capella.SignedBLSToExecutionChange>;
}
