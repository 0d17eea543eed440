/** A block violates the rules. The message names the wrong field of the payload. */
export class InvalidBlockError extends Error {
  readonly field: string;

  constructor(field: string, reason: string) {
    super(`Invalid ${field}: ${reason}.`);
    this.name = "InvalidBlockError";
    this.field = field;
  }
}

/** A system contract makes a block invalid, which only replaced code does. */
export class ContractFaultError extends InvalidBlockError {
  /** Address with 0x. */
  readonly contract: string;

  constructor(contract: Uint8Array, fault: string) {
    const address = `0x${Buffer.from(contract).toString("hex")}`;
    super("executionRequests", `system contract ${address} ${fault}`);
    this.name = "ContractFaultError";
    this.contract = address;
  }
}
