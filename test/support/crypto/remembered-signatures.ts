import { aggregateSignatures, type PublicKey, SecretKey, type Signature } from "@chainsafe/blst";
import { LruMap } from "../../../src/collections/lru-map.ts";

/** Of the groups of BLS12-381. */
const GROUP_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
const MOST_REMEMBERED = 50_000;

/** What was signed in this process, by who signed and what. */
const signatures = new LruMap<string, Signature>(MOST_REMEMBERED);
/** By secret keys. */
const publicKeys = new LruMap<string, PublicKey>(MOST_REMEMBERED);
/** By public keys: the numbers that secret keys are. */
const secrets = new LruMap<string, bigint>(MOST_REMEMBERED);

const { sign, toPublicKey } = SecretKey.prototype;

/** Nothing is computed twice: most tests have the same keys, and hence the same deposits of their genesis. */
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

/** Undefined for a key that was not made in this process. */
export function rememberedSecret(publicKey: PublicKey): bigint | undefined {
  return secrets.get(publicKey.toHex());
}

/**
 * What several keys together have to sign, to the byte: there is no other good signature. Undefined if not all of them
 * have signed.
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
