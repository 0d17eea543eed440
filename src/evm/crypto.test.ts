import { Common, Mainnet } from "@ethereumjs/common";
import { createTx } from "@ethereumjs/tx";
import { computeAddress, keccak256, SigningKey } from "ethers";
import { beforeAll, describe, expect, it } from "vitest";
import { createEvmCrypto, type EvmCrypto } from "./crypto.ts";

const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}` as const;
const bytes = (hex: string) => new Uint8Array(Buffer.from(hex.slice(2), "hex"));
const hex = (data: Uint8Array) => `0x${Buffer.from(data).toString("hex")}`;

describe("cryptography of the EVM", () => {
  let crypto: EvmCrypto;

  beforeAll(async () => {
    crypto = await createEvmCrypto();
  });

  it("hashes as ethers does", () => {
    for (const size of [0, 1, 32, 135, 136, 137, 5000]) {
      const data = new Uint8Array(size).fill(size % 256);
      expect(hex(crypto.keccak(data))).toBe(keccak256(data));
    }
  });

  it("recovers the signer, with every form of the recovery value", () => {
    const recover = crypto.custom.ecrecover!;
    for (let seed = 1; seed <= 8; seed++) {
      const key = new SigningKey(word(seed));
      const digest = keccak256(word(seed));
      const { r, s, yParity } = key.sign(digest);
      const addressBy = (v: bigint, chainId?: bigint) => {
        const publicKey = recover(bytes(digest), v, bytes(r), bytes(s), chainId);
        return computeAddress(`0x04${hex(publicKey).slice(2)}`);
      };
      const expected = computeAddress(key.publicKey);
      expect(addressBy(BigInt(yParity))).toBe(expected);
      expect(addressBy(27n + BigInt(yParity))).toBe(expected);
      expect(addressBy(31_337n * 2n + 35n + BigInt(yParity), 31_337n)).toBe(expected);
    }
  });

  it("signs transactions with keys of their senders", () => {
    const key = bytes(word(7));
    const common = new Common({ chain: Mainnet, hardfork: "osaka", customCrypto: crypto.custom });
    const signed = createTx({ type: 2, nonce: 3n, gasLimit: 21_000n }, { common }).sign(key);
    expect(signed.getSenderAddress().toString()).toBe(computeAddress(new SigningKey(word(7)).publicKey).toLowerCase());
  });

  it("rejects invalid signatures", () => {
    const recover = crypto.custom.ecrecover!;
    const [digest, zero, one] = [bytes(word(5)), bytes(word(0)), bytes(word(1))];
    expect(() => recover(digest, 0n, zero, one)).toThrow("Invalid signature");
    expect(() => recover(digest, 0n, one, zero)).toThrow("Invalid signature");
    expect(() => recover(digest, 0n, new Uint8Array(32).fill(0xff), one)).toThrow("Invalid signature");
    expect(() => recover(digest, 29n, one, one)).toThrow("Invalid recovery bit");
  });
});
