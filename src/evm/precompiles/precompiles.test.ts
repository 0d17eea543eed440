import { hash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { CASES, g1Outside, g2Outside, mutated } from "../../../test/support/evm/precompiles/cases.ts";
import { openPrecompiles, type RunPrecompile } from "../../../test/support/evm/precompiles/comparison.ts";
import { bytes, concat, g1Point, g2Point, repeat, word } from "../../../test/support/evm/precompiles/inputs.ts";

const BLAKE2F = 9;
const G1_SUM = 0xc;
const G2_ADDITION = 0xd;
const G2_SUM = 0xe;
const MUTATIONS = 1;
/** More terms than the WebAssembly library accepts at once. */
const MANY = 300;
/** Fills a BLAKE2b block with distinct words. */
const LONG_TEXT = Array.from({ length: 128 }, (_, index) => String.fromCharCode(33 + (index % 90))).join("");
const MUCH_GAS = 100_000_000n;
/** BLAKE2b state for a 64-byte digest. */
const BLAKE2B_STATE =
  "48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5" +
  "d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b";

describe("precompiles", () => {
  let ours: RunPrecompile;
  let library: RunPrecompile;

  beforeAll(async () => {
    ({ ours, library } = await openPrecompiles());
  });

  it.each(CASES)("returns what the library returns: $name", async ({ address, inputs }) => {
    const all = inputs();
    const valid = all[0]!;
    const mutations = Array.from({ length: MUTATIONS }, (_, seed) => mutated(valid, seed));
    for (const input of [...all, ...mutations]) {
      expect(await ours(address, input), Buffer.from(input).toString("hex")).toEqual(await library(address, input));
    }
    const { gasUsed, hasFailed } = await ours(address, valid);
    expect(hasFailed).toBe(false);
    for (const gas of [gasUsed, gasUsed - 1n, 0n]) {
      expect(await ours(address, valid, gas)).toEqual(await library(address, valid, gas));
    }
  });

  it("adds points of G2 outside of the subgroup, as EIP-2537 demands", async () => {
    const { point, negative } = g2Outside();
    const infinity = "00".repeat(256);
    const add = async (...points: Uint8Array[]) => (await ours(G2_ADDITION, concat(...points))).output;
    expect(await add(point, new Uint8Array(256))).toBe(Buffer.from(point).toString("hex"));
    expect(await add(point, negative)).toBe(infinity);
    const double = bytes(await add(point, point));
    expect(await add(double, negative)).toBe(Buffer.from(point).toString("hex"));
    expect((await ours(G2_SUM, concat(point, word(1)))).hasFailed).toBe(true);
    expect((await ours(G1_SUM, concat(g1Outside(), word(1)))).hasFailed).toBe(true);
  });

  it("adds up more terms than the WebAssembly library takes at once", async () => {
    for (const [address, point] of [[G1_SUM, g1Point(1)] as const, [G2_SUM, g2Point(1)] as const]) {
      const { output } = await ours(
        address,
        repeat(MANY, () => concat(point, word(1))),
        MUCH_GAS,
      );
      expect(output).toBe((await ours(address, concat(point, word(MANY)))).output);
    }
  });

  it("compresses as the BLAKE2b of OpenSSL and the vectors of EIP-152", async () => {
    const compress = async (rounds: number, text: string, isFinal = true) => {
      const message = Buffer.alloc(128);
      message.write(text);
      const offset = Buffer.alloc(16);
      offset.writeUInt8(text.length);
      const input = concat(word(rounds, 4), bytes(BLAKE2B_STATE), message, offset, Uint8Array.of(isFinal ? 1 : 0));
      return (await ours(BLAKE2F, input)).output;
    };
    for (const text of ["", "abc", LONG_TEXT]) expect(await compress(12, text)).toBe(hash("blake2b512", text));
    expect(await compress(0, "abc")).toBe(
      "08c9bcf367e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5" +
        "d282e6ad7f520e511f6c3e2b8c68059b9442be0454267ce079217e1319cde05b",
    );
    expect(await compress(12, "abc", false)).toBe(
      "75ab69d3190a562c51aef8d88f1c2775876944407270c42c9844252c26d28752" +
        "98743e7f6d5ea2f2d3e8d226039cd31b4e426ac4f2d3d666a610c2116fde4735",
    );
    expect(await compress(1, "abc")).toBe(
      "b63a380cb2897d521994a85234ee2c181b5f844d2c624c002677e9703449d2fb" +
        "a551b3a8333bcdf5f2f7e08993d53923de3d64fcc68c034e717b9293fed7a421",
    );
  });
});
