import type { Lazy } from "./lazy.ts";
import type { Curve, G1, G2 } from "./mcl.ts";

const FIELD_SIZE = 48;
const ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
/** Flags in the first byte of a compressed point. */
const COMPRESSED = 0x80;
const INFINITY = 0x40;
const HIGHER_Y = 0x20;
const FLAGS = COMPRESSED | INFINITY | HIGHER_Y;
const GENERATOR_G1 =
  "0x97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb";
/** Generator of G2: x and y, each with a real and an imaginary part. */
const GENERATOR_G2 = [
  "0x024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8",
  "0x13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e",
  "0x0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801",
  "0x0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be",
];
/** The G2 generator multiplied by the trusted setup's secret. */
const SECRET_G2 = [
  "0x185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2",
  "0x15bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72",
  "0x014353bdb96b626dd7d5ee8599d1fca2131569490e28de18e82451a496a9c9794ce26d105941f383ee689bfbbb832a99",
  "0x1666c54b0a32529503432fcae0181b4bef79de09fc63671fda5ed1ba9bfa07899495346f3d7ac9cd23048ef30d0a154f",
];

interface Setup {
  generator1: G1;
  generator2: G2;
  secret2: G2;
}

/** Verifies KZG proofs for a polynomial's value at a point (EIP-4844), using Ethereum's trusted setup. */
export class PointEvaluation {
  readonly #lazy: Lazy<Curve>;
  #setup: Setup | undefined;

  constructor(lazy: Lazy<Curve>) {
    this.#lazy = lazy;
  }

  /** Verifies a proof. Parameters are 0x-prefixed hex. Returns false for malformed input. */
  verifyProof(commitment: string, z: string, y: string, proof: string): boolean {
    const curve = this.#lazy.value;
    const { generator1, generator2, secret2 } = this.#openSetup(curve);
    const [committed, quotient] = [decodePoint(curve, bytesOf(commitment)), decodePoint(curve, bytesOf(proof))];
    const [at, value] = [decodeScalar(curve, bytesOf(z)), decodeScalar(curve, bytesOf(y))];
    if (committed === null || quotient === null || at === null || value === null) return false;
    // commitment - y = quotient × (secret - z), rearranged so that one side has all terms without the secret.
    const known = curve.add(
      curve.add(committed, curve.negate(curve.multiply(generator1, value))),
      curve.multiply(quotient, at),
    );
    return curve.isPairingOne([
      [known, generator2],
      [curve.negate(quotient), secret2],
    ]);
  }

  #openSetup(curve: Curve): Setup {
    this.#setup ??= {
      generator1: decodePoint(curve, bytesOf(GENERATOR_G1))!,
      generator2: decodeUncompressed(curve, GENERATOR_G2),
      secret2: decodeUncompressed(curve, SECRET_G2),
    };
    return this.#setup;
  }
}

/** Decodes a compressed point in the subgroup. Returns null for anything else. */
function decodePoint(curve: Curve, bytes: Uint8Array): G1 | null {
  const flags = bytes[0]! & FLAGS;
  if (bytes.length !== FIELD_SIZE || (flags & COMPRESSED) === 0) return null;
  const x = bytes.slice();
  x[0]! &= ~FLAGS;
  if ((flags & INFINITY) !== 0) {
    const isCanonical = (flags & HIGHER_Y) === 0 && x.every((byte) => byte === 0);
    return isCanonical ? curve.g1(x, x) : null;
  }
  try {
    const point = curve.g1At(x, (flags & HIGHER_Y) !== 0);
    return point?.isValidOrder() ? point : null;
  } catch {
    // The bytes are not a field element.
    return null;
  }
}

function decodeUncompressed(curve: Curve, elements: readonly string[]): G2 {
  const [a, b, c, d] = elements.map(bytesOf) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  return curve.g2([a, b], [c, d])!;
}

function decodeScalar(curve: Curve, bytes: Uint8Array) {
  return BigInt(`0x${Buffer.from(bytes).toString("hex")}`) < ORDER ? curve.scalar(bytes) : null;
}

const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.slice(2), "hex"));
