import { createRequire } from "node:module";
import { instantiateSecp256k1 } from "@bitauth/libauth/build/lib/crypto/secp256k1.js";
import type { CustomCrypto } from "@ethereumjs/common";
import type { KZG } from "@ethereumjs/util";
import { createKeccak256 } from "./keccak.ts";
import type { Keccak } from "./state/trie.ts";

/** Cryptography of the EVM, without native modules. Not shared between threads: each creates its own. */
export interface EvmCrypto {
  keccak: Keccak;
  /** Signs a hash with secp256k1. Returns r, s and v (27 or 28). */
  sign(hash: Uint8Array, privateKey: Uint8Array): Uint8Array;
  /** Keccak, ecrecover (both WASM) and KZG point evaluation, in the form that `@ethereumjs` expects. */
  custom: CustomCrypto;
}

type Secp256k1 = Awaited<ReturnType<typeof instantiateSecp256k1>>;
type Recover = NonNullable<CustomCrypto["ecrecover"]>;

const SIGNATURE_PART = 32;
const GENERATOR_G1 =
  "0x97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb";
/** The only points of the trusted setup that verify a proof: the generator of G2, and its multiple by the secret. */
const SETUP_G2 = [
  "0x93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e" +
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8",
  "0xb5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72" +
    "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2",
];

export async function createEvmCrypto(): Promise<EvmCrypto> {
  const [keccak, secp256k1] = await Promise.all([createKeccak256(), instantiateSecp256k1()]);
  const ecrecover = createRecovery(secp256k1);
  return { keccak, sign: createSigner(secp256k1), custom: { keccak256: keccak, ecrecover, kzg: pointEvaluation() } };
}

function createSigner(secp256k1: Secp256k1): EvmCrypto["sign"] {
  return (hash, privateKey) => {
    const signed = secp256k1.signMessageHashRecoverableCompact(privateKey, hash);
    if (typeof signed === "string") throw new Error(signed);
    return new Uint8Array([...signed.signature, 27 + signed.recoveryId]);
  };
}

/** Returns the 64 bytes of the public key, or throws. */
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

/** Verifies proofs for the point evaluation precompile. Loads its library on the first call. */
function pointEvaluation(): KZG {
  let verifier: Pick<KZG, "verifyProof"> | undefined;
  return {
    verifyProof: (commitment, z, y, proof) => {
      verifier ??= loadVerifier();
      return verifier.verifyProof(commitment, z, y, proof);
    },
    blobToKzgCommitment: unsupported,
    computeBlobProof: unsupported,
    verifyBlobProofBatch: unsupported,
    computeCells: unsupported,
    computeCellsAndProofs: unsupported,
    recoverCellsAndProofs: unsupported,
    verifyCellKzgProofBatch: unsupported,
  };
}

function loadVerifier(): Pick<KZG, "verifyProof"> {
  const { KZG } = createRequire(import.meta.url)("micro-eth-signer/kzg.js");
  return new KZG({ g1_lagrange: [GENERATOR_G1, GENERATOR_G1], g2_monomial: SETUP_G2 });
}

function unsupported(): never {
  throw new Error("The EVM verifies proofs at a point only.");
}
