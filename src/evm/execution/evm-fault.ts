/** The EVM failed to execute a valid transaction: an error of the program, not of the transaction. */
export class EvmFaultError extends Error {
  constructor(cause: unknown) {
    super(`the EVM failed to execute it: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.name = "EvmFaultError";
  }
}
