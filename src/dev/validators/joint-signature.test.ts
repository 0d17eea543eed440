import { aggregateSignatures, SecretKey } from "@chainsafe/blst";
import { interopSecretKeys } from "@lodestar/state-transition";
import { describe, expect, it } from "vitest";
import { sumSignatures, toPooled } from "../../chain/pools/pooled-signature.ts";
import { JointSignature, toScalar } from "./joint-signature.ts";

const keys = interopSecretKeys(4);
const message = new Uint8Array(32).fill(1);
const joint = (signers: readonly SecretKey[], signed = message) => new JointSignature(signed, signers.map(toScalar));
const sumOf = (signers: readonly SecretKey[]) => aggregateSignatures(signers.map((key) => key.sign(message))).toHex();

describe("JointSignature", () => {
  it("is what the signatures add up to, also of somebody who signs twice", () => {
    expect(joint(keys).sign().toHex()).toBe(sumOf(keys));
    expect(
      joint([...keys, keys[0]!])
        .sign()
        .toHex(),
    ).toBe(sumOf([...keys, keys[0]!]));
  });

  it("is right where the sum of the keys goes beyond the order of the group", () => {
    const largest = SecretKey.fromHex("0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000000");
    expect(joint([largest, keys[0]!]).sign().toHex()).toBe(sumOf([largest, keys[0]!]));
  });

  it("is joined with another one over the same message only", () => {
    const [a, b] = [joint(keys.slice(0, 2)), joint(keys.slice(2))];
    expect(a.joinedWith(b)?.sign().toHex()).toBe(sumOf(keys));
    expect(a.joinedWith(joint(keys, new Uint8Array(32).fill(2)))).toBeNull();
  });

  it("adds up with signatures that others made", () => {
    const parts = [joint(keys.slice(0, 1)), toPooled(keys[1]!.sign(message).toBytes()), joint(keys.slice(2))];
    expect(sumSignatures(parts).toHex()).toBe(sumOf(keys));
  });
});
