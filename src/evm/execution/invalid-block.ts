import { OperationalError } from "../../errors/operational-error.ts";
import type { Transaction } from "./transaction.ts";

/** Thrown if a block violates the rules. The message names the wrong field of the payload. */
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

/** Thrown if a system contract makes a block invalid, which only code set by an override can do. */
export class ContractFaultError extends InvalidBlockError {
  /** Clause that names the contract and the fault. */
  readonly fault: string;
  /** Transactions that cause the fault, as far as known. */
  readonly causes: Required<FaultCauses>;

  constructor(contract: Uint8Array, fault: string, { faulty = [], postponed = [] }: FaultCauses = {}) {
    const clause = `system contract 0x${Buffer.from(contract).toString("hex")} ${fault}`;
    super("executionRequests", clause);
    this.name = "ContractFaultError";
    this.fault = clause;
    this.causes = { faulty, postponed };
  }
}
