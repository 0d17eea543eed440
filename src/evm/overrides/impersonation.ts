import type { TypedTransaction } from "@ethereumjs/tx";
import { Address } from "@ethereumjs/util";

/** The text "impersonated". No genuine signature has such a low `s`. */
const PLACEHOLDER_S = BigInt(`0x${Buffer.from("impersonated").toString("hex")}`);
const ADDRESS_BITS = 160n;
/** Prepended to the address in `r`, so that `r` is never zero. */
const PREFIX = 1n << ADDRESS_BITS;

/** Adds a placeholder signature that encodes the sender, so that transaction hashes stay unique. */
export function impersonate(tx: TypedTransaction, sender: Uint8Array): TypedTransaction {
  const r = PREFIX | BigInt(`0x${Buffer.from(sender).toString("hex")}`);
  return tx.addSignature(0n, r, PLACEHOLDER_S, true) as TypedTransaction;
}

export function isImpersonated({ r = 0n, s }: Pick<TypedTransaction, "r" | "s">): boolean {
  return s === PLACEHOLDER_S && r >> ADDRESS_BITS === 1n;
}

/** Returns the sender encoded in a placeholder signature; undefined for a genuine signature. */
export function impersonatedSender(tx: Pick<TypedTransaction, "r" | "s">): Address | undefined {
  if (!isImpersonated(tx)) return undefined;
  const digits = (tx.r! ^ PREFIX).toString(16).padStart(40, "0");
  return new Address(new Uint8Array(Buffer.from(digits, "hex")));
}
