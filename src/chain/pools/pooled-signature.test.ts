import { aggregateSignatures } from "@chainsafe/blst";
import { interopSecretKeys } from "@lodestar/state-transition";
import { describe, expect, it } from "vitest";
import { SignatureSum } from "./pooled-signature.ts";

const message = new Uint8Array(32).fill(3);
const signatures = interopSecretKeys(6).map((secretKey) => secretKey.sign(message));
const bytes = signatures.map((signature) => signature.toBytes());
const sumOf = (count: number) => aggregateSignatures(signatures.slice(0, count)).toHex();

/** Sums of the first signature, the first two signatures, and so on. */
function sums(): SignatureSum[] {
  const all = [new SignatureSum(bytes[0]!)];
  for (const signature of bytes.slice(1)) all.push(all.at(-1)!.with(signature));
  return all;
}

describe("SignatureSum", () => {
  it("is the sum of its parts, in any order of evaluation", () => {
    const all = sums();
    for (const index of [3, 1, 5, 0, 4, 2]) expect(all[index]!.get().toHex()).toBe(sumOf(index + 1));
    expect(all.map((sum) => sum.get().toHex())).toEqual(all.map((_, index) => sumOf(index + 1)));
    expect(all[2]!.toBytes()).toEqual(aggregateSignatures(signatures.slice(0, 3)).toBytes());
  });

  it("does not decompress a signature that is returned unchanged", () => {
    const noSignature = new Uint8Array(96).fill(1);
    const sum = new SignatureSum(noSignature);
    expect(sum.toBytes()).toBe(noSignature);
    expect(() => sum.get()).toThrow();
  });
});
