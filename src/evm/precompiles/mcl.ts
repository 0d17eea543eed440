import { createRequire } from "node:module";
import { sep } from "node:path";

interface Fp {
  serialize(): Uint8Array;
  /** Reads little-endian bytes. Throws if the number is not below the modulus. */
  deserialize(bytes: Uint8Array): void;
  mapToG1(): Point;
}

interface Fp2 {
  get_a(): Fp;
  get_b(): Fp;
  set_a(value: Fp): void;
  set_b(value: Fp): void;
  mapToG2(): Point<Fp2>;
}

interface Fr {
  setBigEndianMod(bytes: Uint8Array): void;
  isZero(): boolean;
}

interface Gt {
  isOne(): boolean;
}

/** A G1 point, or a G2 point with coordinates in the extension field. */
export interface Point<Field = Fp> {
  getX(): Field;
  getY(): Field;
  setX(value: Field): void;
  setY(value: Field): void;
  setZ(value: Field): void;
  isZero(): boolean;
  /** Returns true if the point is on the curve. */
  isValid(): boolean;
  /** Returns true if the point is in the subgroup. */
  isValidOrder(): boolean;
  normalize(): void;
}

export type G1 = Point;
export type G2 = Point<Fp2>;

/** The part of `mcl-wasm` used by the EVM. */
interface Mcl {
  BLS12_381: number;
  BN_SNARK1: number;
  IRTF: number;
  Fp: new () => Fp;
  Fp2: new () => Fp2;
  Fr: new () => Fr;
  G1: new () => G1;
  G2: new () => G2;
  init(curve: number): Promise<void>;
  setMapToMode(mode: number): void;
  verifyOrderG1(doVerify: boolean): void;
  verifyOrderG2(doVerify: boolean): void;
  add<Value extends Fp | G1 | G2>(one: Value, other: Value): Value;
  neg<Value extends Fp | G1 | G2>(value: Value): Value;
  mul<P extends G1 | G2>(point: P, scalar: Fr): P;
  mul(one: Gt, other: Gt): Gt;
  mul(one: Fp, other: Fp): Fp;
  squareRoot(value: Fp): [isSquare: boolean, root: Fp];
  mulVec<P extends G1 | G2>(points: readonly P[], scalars: readonly Fr[]): P;
  millerLoop(one: G1, other: G2): Gt;
  finalExp(value: Gt): Gt;
}

/**
 * Maximum number of terms in a multi-scalar multiplication. The library copies its operands to a one-megabyte stack.
 */
const MAX_TERMS = 256;

/** Pairing-friendly curve arithmetic in WebAssembly. Numbers are big-endian and have the length of a field element. */
export class Curve {
  readonly #mcl: Mcl;
  readonly #size: number;
  readonly #one: Fp;
  readonly #one2: Fp2;

  /** Compiles the library, which takes a tenth of a second. */
  static async load(name: "BLS12_381" | "BN_SNARK1"): Promise<Curve> {
    const mcl = loadCopy();
    await mcl.init(mcl[name]);
    // The order is checked only where the specification requires it.
    mcl.verifyOrderG1(false);
    mcl.verifyOrderG2(false);
    if (name === "BLS12_381") mcl.setMapToMode(mcl.IRTF);
    return new Curve(mcl);
  }

  private constructor(mcl: Mcl) {
    this.#mcl = mcl;
    const zero = new mcl.Fp();
    this.#size = zero.serialize().length;
    this.#one = this.field(Uint8Array.of(1));
    this.#one2 = this.#extension(this.#one, zero);
  }

  /** Decodes a field element. Throws if the value is not below the modulus. */
  field(bytes: Uint8Array): Fp {
    const element = new this.#mcl.Fp();
    const littleEndian = new Uint8Array(this.#size);
    for (let index = 0; index < bytes.length; index++) littleEndian[index] = bytes[bytes.length - 1 - index]!;
    element.deserialize(littleEndian);
    return element;
  }

  /** Decodes a scalar of any size, modulo the order. */
  scalar(bytes: Uint8Array): Fr {
    const scalar = new this.#mcl.Fr();
    scalar.setBigEndianMod(bytes);
    return scalar;
  }

  /** Decodes a G1 point. Two zeros are the point at infinity. Returns null if the point is not on the curve. */
  g1(x: Uint8Array, y: Uint8Array): G1 | null {
    const point = new this.#mcl.G1();
    if (isZero(x) && isZero(y)) return point;
    point.setX(this.field(x));
    point.setY(this.field(y));
    point.setZ(this.#one);
    return point.isValid() ? point : null;
  }

  /** Decodes a G2 point, like `g1`. Each coordinate has a real and an imaginary part. */
  g2(x: readonly [Uint8Array, Uint8Array], y: readonly [Uint8Array, Uint8Array]): G2 | null {
    const point = new this.#mcl.G2();
    if ([...x, ...y].every(isZero)) return point;
    point.setX(this.#decodeExtension(x));
    point.setY(this.#decodeExtension(y));
    point.setZ(this.#one2);
    return point.isValid() ? point : null;
  }

  /** Returns the G1 point with the given x and the higher or lower y; null if there is no such point. */
  g1At(x: Uint8Array, isHigher: boolean): G1 | null {
    const { add, mul, neg, squareRoot } = this.#mcl;
    const element = this.field(x);
    // y² = x³ + 4 is the equation of BLS12-381.
    const [isSquare, root] = squareRoot(add(mul(mul(element, element), element), this.field(Uint8Array.of(4))));
    if (!isSquare) return null;
    const other = neg(root);
    const isRootHigher = Buffer.compare(this.#bytesOf(root), this.#bytesOf(other)) > 0;
    const point = new this.#mcl.G1();
    point.setX(element);
    point.setY(isRootHigher === isHigher ? root : other);
    point.setZ(this.#one);
    return point;
  }

  /** Returns the coordinates of a point; zeros for the point at infinity. */
  g1Bytes(point: G1): [x: Uint8Array, y: Uint8Array] {
    if (point.isZero()) return [new Uint8Array(this.#size), new Uint8Array(this.#size)];
    point.normalize();
    return [this.#bytesOf(point.getX()), this.#bytesOf(point.getY())];
  }

  /**
   * Returns the coordinates of a point, each split into its real and imaginary parts; zeros for the point at infinity.
   */
  g2Bytes(point: G2): [Uint8Array, Uint8Array, Uint8Array, Uint8Array] {
    const zero = new Uint8Array(this.#size);
    if (point.isZero()) return [zero, zero, zero, zero];
    point.normalize();
    const [x, y] = [point.getX(), point.getY()];
    return [x.get_a(), x.get_b(), y.get_a(), y.get_b()].map((part) => this.#bytesOf(part)) as ReturnType<
      Curve["g2Bytes"]
    >;
  }

  add<P extends G1 | G2>(one: P, other: P): P {
    return this.#mcl.add(one, other);
  }

  negate<P extends G1 | G2>(point: P): P {
    return this.#mcl.neg(point);
  }

  /** The point must be in the subgroup. */
  multiply<P extends G1 | G2>(point: P, scalar: Fr): P {
    return this.#mcl.mul(point, scalar);
  }

  /** Returns the sum of points times scalars; null if there are no points. The points must be in the subgroup. */
  multiplySum<P extends G1 | G2>(points: readonly P[], scalars: readonly Fr[]): P | null {
    let sum: P | null = null;
    for (let start = 0; start < points.length; start += MAX_TERMS) {
      const part = this.#mcl.mulVec(points.slice(start, start + MAX_TERMS), scalars.slice(start, start + MAX_TERMS));
      sum = sum === null ? part : this.add(sum, part);
    }
    return sum;
  }

  /** Returns true if the product of the pairings is one. The points must be in the subgroup. */
  isPairingOne(pairs: readonly (readonly [G1, G2])[]): boolean {
    let product: Gt | undefined;
    for (const [one, other] of pairs) {
      if (one.isZero() || other.isZero()) continue;
      const value = this.#mcl.millerLoop(one, other);
      product = product === undefined ? value : this.#mcl.mul(product, value);
    }
    return product === undefined || this.#mcl.finalExp(product).isOne();
  }

  mapToG1(element: Uint8Array): G1 {
    return this.field(element).mapToG1();
  }

  mapToG2(element: readonly [Uint8Array, Uint8Array]): G2 {
    return this.#decodeExtension(element).mapToG2();
  }

  #decodeExtension([real, imaginary]: readonly [Uint8Array, Uint8Array]): Fp2 {
    return this.#extension(this.field(real), this.field(imaginary));
  }

  #extension(real: Fp, imaginary: Fp): Fp2 {
    const element = new this.#mcl.Fp2();
    element.set_a(real);
    element.set_b(imaginary);
    return element;
  }

  #bytesOf(element: Fp): Uint8Array {
    return element.serialize().reverse();
  }
}

/** Loads a new copy of the library for each curve, because the module supports only one curve at a time. */
function loadCopy(): Mcl {
  const require = createRequire(import.meta.url);
  const { cache } = require;
  const folder = `${sep}mcl-wasm${sep}`;
  for (const file of Object.keys(cache)) if (file.includes(folder)) delete cache[file];
  return require("mcl-wasm");
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}
