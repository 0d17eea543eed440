/** Thrown if the EVM fails to execute a valid transaction: a bug in the program, not an error of the transaction. */
export class EvmFaultError extends Error {
  constructor(cause: unknown) {
    super(`the EVM failed to execute it: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.name = "EvmFaultError";
  }
}
