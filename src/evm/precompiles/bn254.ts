import type { EVMBN254Interface } from "@ethereumjs/evm";
import type { Lazy } from "./lazy.ts";
import type { Curve, G1, G2 } from "./mcl.ts";

const WORD = 32;
const G1_SIZE = 2 * WORD;
const G2_SIZE = 4 * WORD;

/** EIP-196 and EIP-197 precompiles. The EVM library has already checked the gas and the length of the input. */
export class Bn254 implements EVMBN254Interface {
  readonly #lazy: Lazy<Curve>;

  constructor(lazy: Lazy<Curve>) {
    this.#lazy = lazy;
  }

  add(input: Uint8Array): Uint8Array {
    return this.#encode(this.#lazy.value.add(this.#g1(input, 0), this.#g1(input, G1_SIZE)));
  }

  mul(input: Uint8Array): Uint8Array {
    const curve = this.#lazy.value;
    const scalar = curve.scalar(input.subarray(G1_SIZE, G1_SIZE + WORD));
    return this.#encode(curve.multiply(this.#g1(input, 0), scalar));
  }

  pairing(input: Uint8Array): Uint8Array {
    const pairs: [G1, G2][] = [];
    for (let start = 0; start < input.length; start += G1_SIZE + G2_SIZE) {
      pairs.push([this.#g1(input, start), this.#g2(input, start + G1_SIZE)]);
    }
    const result = new Uint8Array(WORD);
    result[WORD - 1] = this.#lazy.value.isPairingOne(pairs) ? 1 : 0;
    return result;
  }

  /** Reads a G1 point. All points on the curve are in the subgroup. */
  #g1(input: Uint8Array, start: number): G1 {
    const point = this.#lazy.value.g1(wordAt(input, start), wordAt(input, start + WORD));
    if (point === null) throw new Error("The point is not on the curve.");
    return point;
  }

  /** Reads a G2 point. The imaginary part comes first. */
  #g2(input: Uint8Array, start: number): G2 {
    const part = (index: number) => wordAt(input, start + index * WORD);
    const point = this.#lazy.value.g2([part(1), part(0)], [part(3), part(2)]);
    if (point === null || (!point.isZero() && !point.isValidOrder())) throw new Error("The point is not in G2.");
    return point;
  }

  #encode(point: G1): Uint8Array {
    const [x, y] = this.#lazy.value.g1Bytes(point);
    const encoded = new Uint8Array(G1_SIZE);
    encoded.set(x);
    encoded.set(y, WORD);
    return encoded;
  }
}

const wordAt = (input: Uint8Array, start: number): Uint8Array => input.subarray(start, start + WORD);
