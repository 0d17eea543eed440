import { toHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { MnemonicKeys } from "./mnemonic-keys.ts";

const words = (first: string, last: string) => `${first}${" abandon".repeat(10)} ${last}`;

describe("MnemonicKeys", () => {
  it("derives the signing keys that other tools derive", () => {
    // Mnemonic used by ethereum-package test networks, and the key of validator 0.
    const keys = new MnemonicKeys(
      1,
      "giant issue aisle success illegal bike spike question tent bar rely arctic volcano long crawl hungry vocal artwork sniff fantasy very lucky have athlete",
    );
    expect(toHex(keys.publicKey(0)!)).toBe(
      "0xaaf6c1251e73fb600624937760fef218aace5b253bf068ed45398aeb29d821e4d2899343ddcbbe37cb3f6cf500dff26c",
    );
    expect(keys.publicKey(1)).toBeUndefined();
  });

  it.each([
    [words("abandon", "abandon"), "checksum is wrong"],
    [words("abandn", "about"), 'word 1, "abandn", is not in the English BIP-39 word list. Did you mean "abandon"?'],
    ["abandon about", "it has 2 words. A BIP-39 mnemonic has 12, 15, 18, 21 or 24"],
  ])("rejects %s", (mnemonic, complaint) => {
    expect(() => new MnemonicKeys(1, mnemonic)).toThrow(complaint);
    expect(() => new MnemonicKeys(1, words("abandon", "about"))).not.toThrow();
  });
});
