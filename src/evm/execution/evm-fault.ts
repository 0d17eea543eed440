/** Thrown if the EVM fails to execute a valid transaction: a bug in the EVM, not an error in the transaction. */
export class EvmFaultError extends Error {
  constructor(cause: unknown) {
    super(`the EVM failed to execute it: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.name = "EvmFaultError";
  }
}
