import { secp256k1Base64Bytes } from "@bitauth/libauth/build/lib/bin/secp256k1/secp256k1.base64.js";
import { instantiateSecp256k1Bytes } from "@bitauth/libauth/build/lib/crypto/secp256k1.js";
import type { CustomCrypto } from "@ethereumjs/common";
import type { KZG } from "@ethereumjs/util";
import { createKeccak256 } from "./keccak.ts";
import { Precompiles } from "./precompiles/precompiles.ts";
import type { Keccak } from "./state/trie.ts";

/** Cryptography for the EVM, without native modules. Each thread creates its own instance. */
export interface EvmCrypto {
  keccak: Keccak;
  /** Signs a hash with secp256k1. Returns r, s and v (27 or 28). */
  sign(hash: Uint8Array, privateKey: Uint8Array): Uint8Array;
  /** Keccak, signatures, ecrecover (all WASM) and KZG point evaluation, in the format used by `@ethereumjs`. */
  custom: CustomCrypto;
  precompiles: Precompiles;
}

type Secp256k1 = Awaited<ReturnType<typeof instantiateSecp256k1Bytes>>;
type Recover = NonNullable<CustomCrypto["ecrecover"]>;

const SIGNATURE_PART = 32;

export async function createEvmCrypto(): Promise<EvmCrypto> {
  // Node decodes base64 a hundred times as fast as the library.
  const wasm = new Uint8Array(Buffer.from(secp256k1Base64Bytes, "base64"));
  const [keccak, secp256k1] = await Promise.all([createKeccak256(), instantiateSecp256k1Bytes(wasm.buffer)]);
  const ecrecover = createRecovery(secp256k1);
  const precompiles = new Precompiles();
  const sign = createSigner(secp256k1);
  const custom = { keccak256: keccak, ecsign: recoveredFormat(sign), ecrecover, kzg: pointEvaluation(precompiles) };
  return { keccak, sign, custom, precompiles };
}

function createSigner(secp256k1: Secp256k1): EvmCrypto["sign"] {
  return (hash, privateKey) => {
    const signed = secp256k1.signMessageHashRecoverableCompact(privateKey, hash);
    if (typeof signed === "string") throw new Error(signed);
    return new Uint8Array([...signed.signature, 27 + signed.recoveryId]);
  };
}

/** Returns a function that puts the recovery bit before r and s, like the `recovered` format of noble-curves. */
function recoveredFormat(sign: EvmCrypto["sign"]): NonNullable<CustomCrypto["ecsign"]> {
  return (hash: Uint8Array, privateKey: Uint8Array) => {
    const signature = sign(hash, privateKey);
    return Uint8Array.of(signature.at(-1)! - 27, ...signature.subarray(0, -1));
  };
}

/** Returns a function that recovers the 64-byte public key from a signature, or throws. */
function createRecovery(secp256k1: Secp256k1): Recover {
  return (hash, v, r, s, chainId) => {
    const bit = Number(v < 2n ? v : chainId === undefined ? v - 27n : v - chainId * 2n - 35n);
    if (bit !== 0 && bit !== 1) throw new Error("Invalid recovery bit");
    const signature = new Uint8Array(2 * SIGNATURE_PART);
    signature.set(r, SIGNATURE_PART - r.length);
    signature.set(s, 2 * SIGNATURE_PART - s.length);
    const publicKey = secp256k1.recoverPublicKeyUncompressed(signature, bit, hash);
    if (typeof publicKey === "string") throw new Error("Invalid signature");
    return publicKey.subarray(1);
  };
}

/** Verifies KZG proofs with the point evaluation precompile, which has already loaded the curve. */
function pointEvaluation(precompiles: Precompiles): KZG {
  return {
    verifyProof: (...proof) => precompiles.pointEvaluation.verifyProof(...proof),
    blobToKzgCommitment: unsupported,
    computeBlobProof: unsupported,
    verifyBlobProofBatch: unsupported,
    computeCells: unsupported,
    computeCellsAndProofs: unsupported,
    recoverCellsAndProofs: unsupported,
    verifyCellKzgProofBatch: unsupported,
  };
}

function unsupported(): never {
  throw new Error("The EVM verifies proofs at a point only.");
}
