import { OperationalError } from "../../errors/operational-error.ts";
import type { Transaction } from "./transaction.ts";

/** Thrown if a block violates the rules. The message names the incorrect payload field. */
export class InvalidBlockError extends OperationalError {
  readonly field: string;

  constructor(field: string, reason: string) {
    super(`Invalid ${field}: ${reason}.`);
    this.name = "InvalidBlockError";
    this.field = field;
  }
}

interface FaultCauses {
  /** Transactions that cannot be included in any block. */
  faulty?: readonly Transaction[];
  /** Transactions that do not fit into the block. */
  postponed?: readonly Transaction[];
}

/**
 * Thrown if a system contract makes a block invalid. This happens only if an override has replaced the contract's code.
 */
export class ContractFaultError extends InvalidBlockError {
  /** Clause naming the contract and the fault. */
  readonly fault: string;
  /** Transactions known to cause the fault. */
  readonly causes: Required<FaultCauses>;

  constructor(contract: Uint8Array, fault: string, { faulty = [], postponed = [] }: FaultCauses = {}) {
    const clause = `system contract 0x${Buffer.from(contract).toString("hex")} ${fault}`;
    super("executionRequests", clause);
    this.name = "ContractFaultError";
    this.fault = clause;
    this.causes = { faulty, postponed };
  }
}
