import { aggregateSignatures, SecretKey } from "@chainsafe/blst";
import { interopSecretKeys } from "@lodestar/state-transition";
import { describe, expect, it } from "vitest";
import { sumSignatures, toPooled } from "../../chain/pools/pooled-signature.ts";
import { LazyAggregateSignature, toScalar } from "./lazy-aggregate-signature.ts";

const keys = interopSecretKeys(4);
const message = new Uint8Array(32).fill(1);
const joint = (signers: readonly SecretKey[], signed = message) =>
  new LazyAggregateSignature(signed, signers.map(toScalar));
const sumOf = (signers: readonly SecretKey[]) => aggregateSignatures(signers.map((key) => key.sign(message))).toHex();

describe("LazyAggregateSignature", () => {
  it("equals the aggregate of the signatures, also with duplicate signers", () => {
    expect(joint(keys).sign().toHex()).toBe(sumOf(keys));
    expect(
      joint([...keys, keys[0]!])
        .sign()
        .toHex(),
    ).toBe(sumOf([...keys, keys[0]!]));
  });

  it("reduces a key sum beyond the group order", () => {
    const largest = SecretKey.fromHex("0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000000");
    expect(joint([largest, keys[0]!]).sign().toHex()).toBe(sumOf([largest, keys[0]!]));
  });

  it("joins only signatures over the same message", () => {
    const [a, b] = [joint(keys.slice(0, 2)), joint(keys.slice(2))];
    expect(a.joinedWith(b)?.sign().toHex()).toBe(sumOf(keys));
    expect(a.joinedWith(joint(keys, new Uint8Array(32).fill(2)))).toBeNull();
  });

  it("aggregates with other signatures", () => {
    const parts = [joint(keys.slice(0, 1)), toPooled(keys[1]!.sign(message).toBytes()), joint(keys.slice(2))];
    expect(sumSignatures(parts).toHex()).toBe(sumOf(keys));
  });
});
