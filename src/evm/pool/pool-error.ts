/** Reasons for rejection, with geth's messages, which client libraries parse. */
export const POOL_ERRORS = {
  alreadyKnown: "already known",
  nonceTooLow: "nonce too low",
  nonceTooHigh: "nonce too high",
  underpriced: "transaction underpriced",
  replacementUnderpriced: "replacement transaction underpriced",
  insufficientFunds: "insufficient funds for gas * price + value",
  intrinsicGas: "intrinsic gas too low",
  floorDataGas: "insufficient gas for floor data gas cost",
  gasLimit: "exceeds block gas limit",
  maxTxGas: "transaction gas limit too high",
  oversized: "oversized data",
  tipAboveFeeCap: "max priority fee per gas higher than max fee per gas",
  initCodeSize: "max initcode size exceeded",
  invalid: "invalid transaction",
  invalidSender: "invalid sender",
  senderNotEoa: "sender not an eoa",
  typeNotSupported: "transaction type not supported",
  poolFull: "txpool is full",
  accountLimit: "account limit exceeded",
  missingSidecar: "missing sidecar in blob transaction",
  wrongSidecar: "unexpected blob sidecar",
  invalidSidecar: "invalid blob proof",
  mismatchedSidecar: "blob versioned hash mismatch",
  tooManyBlobs: "too many blobs in transaction",
} as const;
export type PoolErrorCode = keyof typeof POOL_ERRORS;

/** Thrown if the pool rejects a transaction. The message starts with geth's text, followed by the details. */
export class PoolError extends Error {
  readonly code: PoolErrorCode;

  constructor(code: PoolErrorCode, details?: string) {
    super(details === undefined ? POOL_ERRORS[code] : `${POOL_ERRORS[code]}: ${details}`);
    this.name = "PoolError";
    this.code = code;
  }
}
