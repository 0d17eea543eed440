import { type EVMBLSInterface, EVMError } from "@ethereumjs/evm";
import type { Lazy } from "./lazy.ts";
import type { Curve, G1, G2 } from "./mcl.ts";

/** Size of a padded field element (EIP-2537). */
const FIELD_SIZE = 64;
const PADDING = 16;
const G1_SIZE = 2 * FIELD_SIZE;
const G2_SIZE = 4 * FIELD_SIZE;
const SCALAR_SIZE = 32;
const ORDER_UNCHECKED = false;

/** EIP-2537 precompiles. The EVM library has already checked the gas, and the length and padding of the input. */
export class Bls12381 implements EVMBLSInterface {
  readonly #lazy: Lazy<Curve>;

  constructor(lazy: Lazy<Curve>) {
    this.#lazy = lazy;
  }

  get #curve(): Curve {
    return this.#lazy.value;
  }

  addG1(input: Uint8Array): Uint8Array {
    const sum = this.#curve.add(this.#g1(input, 0, ORDER_UNCHECKED), this.#g1(input, G1_SIZE, ORDER_UNCHECKED));
    return encode(this.#curve.g1Bytes(sum));
  }

  addG2(input: Uint8Array): Uint8Array {
    const sum = this.#curve.add(this.#g2(input, 0, ORDER_UNCHECKED), this.#g2(input, G2_SIZE, ORDER_UNCHECKED));
    return encode(this.#curve.g2Bytes(sum));
  }

  msmG1(input: Uint8Array): Uint8Array {
    const sum = this.#sum(input, G1_SIZE, (start) => this.#g1(input, start));
    return sum === null ? new Uint8Array(G1_SIZE) : encode(this.#curve.g1Bytes(sum));
  }

  msmG2(input: Uint8Array): Uint8Array {
    const sum = this.#sum(input, G2_SIZE, (start) => this.#g2(input, start));
    return sum === null ? new Uint8Array(G2_SIZE) : encode(this.#curve.g2Bytes(sum));
  }

  pairingCheck(input: Uint8Array): Uint8Array {
    const pairs: [G1, G2][] = [];
    for (let start = 0; start < input.length; start += G1_SIZE + G2_SIZE) {
      pairs.push([this.#g1(input, start), this.#g2(input, start + G1_SIZE)]);
    }
    const result = new Uint8Array(32);
    result[31] = this.#curve.isPairingOne(pairs) ? 1 : 0;
    return result;
  }

  mapFPtoG1(input: Uint8Array): Uint8Array {
    return encode(this.#curve.g1Bytes(this.#curve.mapToG1(this.#field(input, 0))));
  }

  mapFP2toG2(input: Uint8Array): Uint8Array {
    return encode(this.#curve.g2Bytes(this.#curve.mapToG2([this.#field(input, 0), this.#field(input, FIELD_SIZE)])));
  }

  /** Computes a multi-scalar multiplication. Skips terms that do not contribute. */
  #sum<P extends G1 | G2>(input: Uint8Array, pointSize: number, pointAt: (start: number) => P): P | null {
    const points: P[] = [];
    const scalars = [];
    for (let start = 0; start < input.length; start += pointSize + SCALAR_SIZE) {
      const point = pointAt(start);
      const scalar = this.#curve.scalar(input.subarray(start + pointSize, start + pointSize + SCALAR_SIZE));
      if (point.isZero() || scalar.isZero()) continue;
      points.push(point);
      scalars.push(scalar);
    }
    return this.#curve.multiplySum(points, scalars);
  }

  #g1(input: Uint8Array, start: number, isOrderChecked = true): G1 {
    const [x, y] = [this.#field(input, start), this.#field(input, start + FIELD_SIZE)];
    return valid(this.#curve.g1(x, y), isOrderChecked);
  }

  #g2(input: Uint8Array, start: number, isOrderChecked = true): G2 {
    const part = (index: number) => this.#field(input, start + index * FIELD_SIZE);
    return valid(this.#curve.g2([part(0), part(1)], [part(2), part(3)]), isOrderChecked);
  }

  #field(input: Uint8Array, start: number): Uint8Array {
    return input.subarray(start + PADDING, start + FIELD_SIZE);
  }
}

function valid<P extends G1 | G2>(point: P | null, isOrderChecked: boolean): P {
  if (point === null || (isOrderChecked && !point.isZero() && !point.isValidOrder())) {
    throw new EVMError(EVMError.errorMessages.BLS_12_381_POINT_NOT_ON_CURVE);
  }
  return point;
}

function encode(elements: readonly Uint8Array[]): Uint8Array {
  const encoded = new Uint8Array(elements.length * FIELD_SIZE);
  for (const [index, element] of elements.entries()) encoded.set(element, index * FIELD_SIZE + PADDING);
  return encoded;
}
