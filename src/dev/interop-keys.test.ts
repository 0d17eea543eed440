import { toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { InteropKeys } from "./interop-keys.ts";

describe("InteropKeys", () => {
  it("derives the keys of the interop mocked start", () => {
    const keys = new InteropKeys(2);
    expect(keys.indices).toEqual([0, 1]);
    expect(toHex(keys.secretKey(0)!.toBytes())).toBe(
      "0x25295f0d1d592a90b333e26e85149708208e9f8e8bc18f6c77bd62f8ad7a6866",
    );
    expect(toHex(keys.publicKey(0)!)).toBe(
      "0xa99a76ed7796f7be22d5b7e85deeb7c5677e88e511e0b337618f8c4eb61349b4bf2d153f649f7b53359fe8b94a38e44c",
    );
    expect(toHex(keys.publicKey(1)!)).toBe(
      "0xb89bebc699769726a318c8e9971bd3171297c61aea4a6578a7a4f94b547dcba5bac16a89108b6b6a1fe3695d1a874a0b",
    );
  });

  it("derives each key once", () => {
    const keys = new InteropKeys(1);
    expect(keys.secretKey(0)).toBe(keys.secretKey(0));
    expect(keys.publicKey(0)).toBe(keys.publicKey(0));
  });

  it("has no keys beyond its count", () => {
    const keys = new InteropKeys(1);
    expect(keys.secretKey(1)).toBeUndefined();
    expect(keys.publicKey(1)).toBeUndefined();
    expect(keys.publicKey(-1)).toBeUndefined();
  });

  it("starts at the given first key", () => {
    expect(new InteropKeys(1, 1).publicKey(0)).toEqual(new InteropKeys(2).publicKey(1));
  });

  it("derives keys lazily", () => {
    const started = performance.now();
    expect(new InteropKeys(100_000).count).toBe(100_000);
    // Deriving this many public keys would take more than ten seconds.
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
