import type { Common } from "@ethereumjs/common";
import { type EVMOpts, getActivePrecompiles, type PrecompileFunc } from "@ethereumjs/evm";
import { Blake2b } from "./blake2f.ts";
import { Bls12381 } from "./bls12-381.ts";
import { Bn254 } from "./bn254.ts";
import { Lazy } from "./lazy.ts";
import { Curve } from "./mcl.ts";
import { verifyP256 } from "./p256.ts";
import { PointEvaluation } from "./point-evaluation.ts";

type Replace = (original: PrecompileFunc) => PrecompileFunc;

const BN254_ADDRESSES = [6, 7, 8];
const BLS12_381_ADDRESSES = [0xa, 0xb, 0xc, 0xd, 0xe, 0xf, 0x10, 0x11];
const BLAKE2F_ADDRESS = 9;
const P256VERIFY_ADDRESS = 0x100;
const BLAKE2F_SIZE = 213;
const P256VERIFY_SIZE = 160;
const TRUE = Uint8Array.from({ length: 32 }, (_, index) => (index === 31 ? 1 : 0));

/**
 * Fast precompile implementations for the EVM library. The library's own functions still charge the gas and reject
 * malformed input. Each thread creates its own instance, which loads a curve on first use.
 */
export class Precompiles {
  readonly #bn254Curve = new Lazy(() => Curve.load("BN_SNARK1"));
  readonly #blsCurve = new Lazy(() => Curve.load("BLS12_381"));
  readonly #blake2b = new Blake2b();
  readonly bn254 = new Bn254(this.#bn254Curve);
  readonly bls = new Bls12381(this.#blsCurve);
  /** Uses the same curve as the BLS precompiles. */
  readonly pointEvaluation = new PointEvaluation(this.#blsCurve);

  /** Returns replacements for the precompiles active in a fork. */
  replaced(common: Common): NonNullable<EVMOpts["customPrecompiles"]> {
    const active = getActivePrecompiles(common);
    return this.#replacements().flatMap(([number, replace]) => {
      const address = number.toString(16).padStart(40, "0");
      const original = active.get(address);
      return original === undefined ? [] : [{ address: `0x${address}` as const, function: replace(original) }];
    });
  }

  #replacements(): (readonly [address: number, replace: Replace])[] {
    return [
      ...BN254_ADDRESSES.map((address) => [address, after(this.#bn254Curve)] as const),
      ...BLS12_381_ADDRESSES.map((address) => [address, after(this.#blsCurve)] as const),
      [BLAKE2F_ADDRESS, blake2f(this.#blake2b)],
      [P256VERIFY_ADDRESS, p256verify],
    ];
  }
}

/** Wraps a precompile so that its curve is loaded before the first call. */
function after(curve: Lazy<Curve>): Replace {
  return (original) => (input) => {
    if (curve.isLoaded) return original(input);
    return curve.load().then(() => original(input));
  };
}

const blake2f =
  (blake2b: Blake2b): Replace =>
  (original) =>
  (input) => {
    const { data, gasLimit, common } = input;
    const isWellFormed = data.length === BLAKE2F_SIZE && data[BLAKE2F_SIZE - 1]! <= 1;
    if (!isWellFormed) return original(input);
    const rounds = new DataView(data.buffer, data.byteOffset).getUint32(0);
    const executionGasUsed = BigInt(rounds) * common.param("blake2RoundGas");
    if (executionGasUsed > gasLimit) return original(input);
    return { executionGasUsed, returnValue: blake2b.compress(data) };
  };

const p256verify: Replace = (original) => async (input) => {
  const { data } = input;
  // Empty data makes the signature invalid at the same gas cost.
  const invalid = await original({ ...input, data: data.subarray(0, 0) });
  const isValid = invalid.exceptionError === undefined && data.length === P256VERIFY_SIZE && verifyP256(data);
  return isValid ? { ...invalid, returnValue: TRUE } : invalid;
};
