import { getCalldataFloorGas, isBlob4844Tx } from "@ethereumjs/tx";
import type { Address } from "@ethereumjs/util";
import { reasonOf } from "../execution/payload.ts";
import type { ForkRules } from "../execution/rules.ts";
import { decodeTransaction, maxFeePerGas, type Transaction } from "../execution/transaction.ts";
import { isImpersonated } from "../overrides/impersonation.ts";
import type { AccountRecord } from "../state/world.ts";
import { PoolError, type PoolErrorCode } from "./pool-error.ts";
import { type Sidecar, type SidecarKzg, splitSidecar, versionedHashOf } from "./sidecar.ts";

/** Context for validating a transaction. */
export interface PoolHead {
  /** Rules that apply to the next block. */
  rules: ForkRules;
  gasLimit: bigint;
}

/** The base fee cannot fall below this value, because it changes by at most an eighth. */
const MIN_BASE_FEE = 7n;
/** EIP-4844 minimum. */
const MIN_BLOB_BASE_FEE = 1n;
/** Maximum size of a transaction without its sidecar. */
const MAX_SIZE = 128 * 1024;
/** EIP-7702: prefix of a delegated account's code. */
const DELEGATION_PREFIX = [0xef, 0x01, 0x00];

/** Pool errors keyed by the transaction library's messages. Details default to the message. */
const LIBRARY_ERRORS: readonly (readonly [
  pattern: RegExp,
  code: PoolErrorCode,
  details?: (found: RegExpExecArray) => string | undefined,
])[] = [
  [/chain ?id/i, "invalidSender"],
  [/signature|not signed|EIP-2/i, "invalidSender"],
  [/TypedTransaction with ID|not (activated|enabled|supported)/i, "typeNotSupported"],
  [/maxFeePerGas cannot be less than maxPriorityFeePerGas/, "tipAboveFeeCap", () => undefined],
  [/gas limit (\d+) exceeds .* EIP-7825 \((\d+)\)/, "maxTxGas", ([, gas, cap]) => `cap ${cap} (EIP-7825), tx ${gas}`],
  [/initcode/i, "initCodeSize"],
  [/blob gas|blobs per tx/i, "tooManyBlobs"],
];

/** Recovers the sender unless it is given. */
export function decodeWithSidecar(
  encoded: Uint8Array,
  rules: ForkRules,
  sender?: Address,
): { transaction: Transaction; sidecar?: Sidecar } {
  try {
    const { raw, sidecar } = splitSidecar(encoded);
    if (raw.length > MAX_SIZE) {
      throw new PoolError("oversized", `transaction size ${raw.length}, limit ${MAX_SIZE}`);
    }
    return { transaction: decodeTransaction(raw, rules, sender), ...(sidecar && { sidecar }) };
  } catch (error) {
    throw error instanceof PoolError ? error : fromLibraryError(error, rules);
  }
}

/** Converts an error thrown by the transaction library. */
export function fromLibraryError(error: unknown, { chainId }: ForkRules): PoolError {
  const reason = reasonOf(error);
  for (const [pattern, code, details] of LIBRARY_ERRORS) {
    const found = pattern.exec(reason);
    if (found) return new PoolError(code, details ? details(found) : (chainIdMismatch(reason, chainId) ?? reason));
  }
  return new PoolError("invalid", reason);
}

/** Describes a chain id mismatch; undefined if the library rejected the transaction for a different reason. */
function chainIdMismatch(reason: string, want: bigint): string | undefined {
  const [, typed, legacy] = /derived chain ID (\d+)|EIP155-based V (\d+)/.exec(reason) ?? [];
  // EIP-155: v = 35 + 2 * chain id + parity.
  const have = typed ?? (legacy && (BigInt(legacy) - 35n) / 2n);
  return have === undefined ? undefined : `invalid chain id for signer: have ${have} want ${want}`;
}

/** Checks a transaction independently of the rest of the pool. */
export function checkTransaction(
  { tx, sender }: Transaction,
  { rules, gasLimit }: PoolHead,
  account: AccountRecord | undefined,
): void {
  const feeCap = maxFeePerGas(tx);
  if (feeCap < MIN_BASE_FEE) {
    throw new PoolError("underpriced", `gas fee cap ${feeCap}, minimum needed ${MIN_BASE_FEE}`);
  }
  if (isBlob4844Tx(tx) && tx.maxFeePerBlobGas < MIN_BLOB_BASE_FEE) {
    throw new PoolError("underpriced", `blob fee cap ${tx.maxFeePerBlobGas}, minimum needed ${MIN_BLOB_BASE_FEE}`);
  }
  if (tx.gasLimit > gasLimit) throw new PoolError("gasLimit", `limit ${gasLimit}, tx gas ${tx.gasLimit}`);
  const needed = tx.getIntrinsicGas();
  if (tx.gasLimit < needed) throw new PoolError("intrinsicGas", `gas ${tx.gasLimit}, minimum needed ${needed}`);
  const floor = rules.isSince("prague") ? getCalldataFloorGas(tx, sender) : 0n;
  if (tx.gasLimit < floor) throw new PoolError("floorDataGas", `gas ${tx.gasLimit}, minimum needed ${floor}`);
  // EIP-8037: otherwise, the gas limit may be higher than the cap.
  const cap = rules.isSince("amsterdam") ? rules.maxTransactionGas : undefined;
  if (cap !== undefined && (needed > cap || floor > cap)) {
    throw new PoolError("maxTxGas", `cap ${cap} (EIP-7825), intrinsic gas ${needed}, floor ${floor}`);
  }
  const nonce = account?.nonce ?? 0n;
  if (tx.nonce < nonce) throw new PoolError("nonceTooLow", `next nonce ${nonce}, tx nonce ${tx.nonce}`);
  const code = account?.code ?? [];
  const isDelegated = rules.isSince("prague") && DELEGATION_PREFIX.every((byte, index) => code[index] === byte);
  if (code.length > 0 && !isDelegated && !isImpersonated(tx)) throw new PoolError("senderNotEoa", `address ${sender}`);
}

/** Validates a transaction's sidecar, and converts it to the version required by the fork. */
export async function checkSidecar(
  { tx }: Transaction,
  sidecar: Sidecar | undefined,
  rules: ForkRules,
  kzg: SidecarKzg,
): Promise<Sidecar | undefined> {
  if (!isBlob4844Tx(tx)) return undefined;
  if (sidecar === undefined) throw new PoolError("missingSidecar");
  const hashes = sidecar.commitments.map(
    (commitment) => `0x${Buffer.from(versionedHashOf(commitment)).toString("hex")}`,
  );
  const { blobVersionedHashes } = tx;
  if (
    hashes.length !== blobVersionedHashes.length ||
    hashes.some((hash, index) => hash !== blobVersionedHashes[index])
  ) {
    throw new PoolError("mismatchedSidecar", `have ${blobVersionedHashes.join(", ")}, want ${hashes.join(", ")}`);
  }
  const version = sidecarVersion(rules);
  const isUpgradable = sidecar.version === 0 && version === 1 && kzg.upgrade !== undefined;
  if (sidecar.version !== version && !isUpgradable) {
    throw new PoolError("wrongSidecar", `version ${sidecar.version}, want ${version}`);
  }
  if (!(await kzg.verify(sidecar))) throw new PoolError("invalidSidecar");
  return isUpgradable ? kzg.upgrade!(sidecar) : sidecar;
}

/** Since Osaka, sidecars contain a proof per cell (EIP-7594). */
export const sidecarVersion = (rules: ForkRules): 0 | 1 => (rules.isSince("osaka") ? 1 : 0);
