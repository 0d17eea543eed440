import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { computeSubscribedSubnets } from "./subscribed-subnets.ts";

const CONFIG = { SUBNETS_PER_NODE: 2, EPOCHS_PER_SUBNET_SUBSCRIPTION: 256 };

const sha256 = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();

function littleEndian(value: bigint, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

/**
 * compute_shuffled_index from phase0/beacon-chain.md, step by step. The minimal preset has 10 rounds, and mainnet has
 * 90.
 */
function shuffledIndex(start: number, count: number, seed: Uint8Array, rounds: number): number {
  let index = start;
  for (let round = 0; round < rounds; round++) {
    const roundByte = Uint8Array.of(round);
    const pivot = Number(sha256(seed, roundByte).readBigUInt64LE() % BigInt(count));
    const flip = (pivot + count - index) % count;
    const position = Math.max(index, flip);
    const source = sha256(seed, roundByte, littleEndian(BigInt(Math.floor(position / 256)), 4));
    const bit = (source[Math.floor((position % 256) / 8)]! >> (position % 8)) % 2;
    if (bit === 1) index = flip;
  }
  return index;
}

/** compute_subscribed_subnets from phase0/p2p-interface.md, with a 6-bit prefix and 64 subnets. */
function expectedSubnets(nodeId: bigint, epoch: bigint, rounds: number): number[] {
  const offset = nodeId % 256n;
  const seed = sha256(littleEndian((epoch + offset) / 256n, 8));
  const permutated = shuffledIndex(Number(nodeId >> 250n), 64, seed, rounds);
  return [permutated, (permutated + 1) % 64];
}

describe("computeSubscribedSubnets", () => {
  const idBytes = (id: bigint) => Uint8Array.from(Buffer.from(id.toString(16).padStart(64, "0"), "hex"));
  const rounds = process.env.LODESTAR_PRESET === "mainnet" ? 90 : 10;
  const ids = [0n, 2n ** 256n - 1n, ...Array.from({ length: 20 }, (_, i) => sha256(Uint8Array.of(i)))].map((id) =>
    typeof id === "bigint" ? id : BigInt(`0x${id.toString("hex")}`),
  );

  it("matches the specification", () => {
    for (const id of ids) {
      for (const epoch of [0n, 1n, 255n, 256n, 1_000_000n]) {
        expect(computeSubscribedSubnets(CONFIG, idBytes(id), Number(epoch))).toEqual(
          expectedSubnets(id, epoch, rounds),
        );
      }
    }
  });

  it("rotates the subnets after EPOCHS_PER_SUBNET_SUBSCRIPTION", () => {
    const id = ids[5]!;
    const subnetsAt = (epoch: number) => computeSubscribedSubnets(CONFIG, idBytes(id), epoch).join();
    const starts = Array.from({ length: 8 }, (_, period) => 256 * (period + 1) - Number(id % 256n));
    for (const start of starts) expect(subnetsAt(start + 255)).toBe(subnetsAt(start));
    // Two periods may happen to have the same subnets.
    expect(new Set(starts.map(subnetsAt)).size).toBeGreaterThan(5);
  });
});
