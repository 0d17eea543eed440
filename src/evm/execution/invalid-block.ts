import { OperationalError } from "../../errors/operational-error.ts";
import type { Transaction } from "./transaction.ts";

/** A block violates the rules. The message names the wrong field of the payload. */
export class InvalidBlockError extends OperationalError {
  readonly field: string;

  constructor(field: string, reason: string) {
    super(`Invalid ${field}: ${reason}.`);
    this.name = "InvalidBlockError";
    this.field = field;
  }
}

interface FaultCauses {
  /** Transactions that no block can include. */
  faulty?: readonly Transaction[];
  /** Transactions that the block has no room for. */
  postponed?: readonly Transaction[];
}

/** A system contract makes a block invalid, which only replaced code does. */
export class ContractFaultError extends InvalidBlockError {
  /** Clause that names the contract. */
  readonly fault: string;
  /** Transactions that cause it, as far as known. */
  readonly causes: Required<FaultCauses>;

  constructor(contract: Uint8Array, fault: string, { faulty = [], postponed = [] }: FaultCauses = {}) {
    const clause = `system contract 0x${Buffer.from(contract).toString("hex")} ${fault}`;
    super("executionRequests", clause);
    this.name = "ContractFaultError";
    this.fault = clause;
    this.causes = { faulty, postponed };
  }
}
