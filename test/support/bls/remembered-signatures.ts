import { aggregateSignatures, type PublicKey, SecretKey, type Signature } from "@chainsafe/blst";
import { LruMap } from "../../../src/collections/lru-map.ts";

/** Order of the BLS12-381 groups. */
const GROUP_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
const MAX_CACHED = 50_000;

/** Signatures of this process by signer and message. */
const signatures = new LruMap<string, Signature>(MAX_CACHED);
/** Public keys by secret key. */
const publicKeys = new LruMap<string, PublicKey>(MAX_CACHED);
/** Secret scalars by public key. */
const secrets = new LruMap<string, bigint>(MAX_CACHED);

const { sign, toPublicKey } = SecretKey.prototype;

/** Caches signatures: most tests have the same keys, and therefore the same genesis deposits. */
export function rememberSignatures(): void {
  SecretKey.prototype.sign = function (this: SecretKey, message) {
    const name = nameOf(BigInt(this.toHex()), message);
    const signature = signatures.get(name) ?? sign.call(this, message);
    signatures.set(name, signature);
    return signature;
  };

  SecretKey.prototype.toPublicKey = function (this: SecretKey) {
    const secret = this.toHex();
    const publicKey = publicKeys.get(secret) ?? toPublicKey.call(this);
    publicKeys.set(secret, publicKey);
    secrets.set(publicKey.toHex(), BigInt(secret));
    return publicKey;
  };
}

/** Returns undefined for a key of another process. */
export function rememberedSecret(publicKey: PublicKey): bigint | undefined {
  return secrets.get(publicKey.toHex());
}

/**
 * Returns the aggregate signature of several keys, which is deterministic. Undefined if a key has not signed in this
 * process.
 */
export function rememberedSignature(signers: readonly bigint[], message: Uint8Array): Signature | undefined {
  const sum = signers.reduce((total, secret) => (total + secret) % GROUP_ORDER, 0n);
  const name = nameOf(sum, message);
  const known = signatures.get(name);
  if (known || signers.length === 1) return known;
  const parts = signers.flatMap((secret) => signatures.get(nameOf(secret, message)) ?? []);
  if (parts.length < signers.length) return undefined;
  const joint = aggregateSignatures(parts);
  signatures.set(name, joint);
  return joint;
}

function nameOf(secret: bigint, message: Uint8Array): string {
  return `${secret.toString(36)} ${Buffer.from(message).toString("base64")}`;
}
