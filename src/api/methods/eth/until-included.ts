import { EthError } from "../../../evm/eth/eth-error.ts";
import type { ApiContext } from "../../context.ts";

interface Waiting {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** The same limits as in geth. */
const DEFAULT_TIMEOUT_MS = 20_000;
const MAX_TIMEOUT_MS = 60_000;
/** The error code for a timeout in EIP-7966. */
const TIMEOUT_CODE = 4;

/**
 * Waits until a transaction is included in a block, and returns its receipt. On timeout, throws an `EthError` that
 * contains the transaction hash.
 */
export async function untilIncluded(
  eth: NonNullable<ApiContext["eth"]>,
  hash: string,
  { timeoutMs, signal }: Waiting,
): Promise<unknown> {
  const limit = Math.min(timeoutMs || DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const check = async () => {
    const receipt = await eth.call("getReceipt", { hash });
    if (receipt !== null) resolve(receipt);
  };
  const end = eth.subscribe({ kind: "newHeads" }, () => void check().catch(reject));
  const message = `The transaction was added to the transaction pool but wasn't processed in ${limit} ms`;
  const timer = setTimeout(() => reject(new EthError(message, TIMEOUT_CODE, hash)), limit);
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    signal?.throwIfAborted();
    check().catch(reject);
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    end();
  }
}
