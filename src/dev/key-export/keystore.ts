import { createCipheriv, createHash, pbkdf2, randomBytes, randomUUID } from "node:crypto";
import { promisify } from "node:util";

/** Far below the usual 2^18, so that clients can import hundreds of test keys in seconds. */
const ITERATIONS = 4096;
const KEY_BYTES = 32;

/** Encrypted secret key (EIP-2335). */
export interface Keystore {
  readonly crypto: object;
  readonly description: string;
  /** Hex without 0x. */
  readonly pubkey: string;
  /** Derivation path. Empty for keys not derived from a mnemonic. */
  readonly path: string;
  readonly uuid: string;
  readonly version: 4;
}

interface KeystoreOptions {
  secretKey: Uint8Array;
  publicKey: Uint8Array;
  path: string;
  /** NFKD-normalized, without control characters. */
  password: string;
  description: string;
}

/** Encrypts a secret key. Uses a cheap key derivation, since these keystores are only for tests. */
export async function createKeystore(options: KeystoreOptions): Promise<Keystore> {
  const { secretKey, publicKey, path, password, description } = options;
  const salt = randomBytes(32);
  const iv = randomBytes(16);
  const key = await promisify(pbkdf2)(password, salt, ITERATIONS, KEY_BYTES, "sha256");
  const cipher = createCipheriv("aes-128-ctr", key.subarray(0, 16), iv);
  const encrypted = Buffer.concat([cipher.update(secretKey), cipher.final()]);
  const checksum = createHash("sha256").update(key.subarray(16)).update(encrypted).digest("hex");
  return {
    crypto: {
      kdf: {
        function: "pbkdf2",
        params: { dklen: KEY_BYTES, c: ITERATIONS, prf: "hmac-sha256", salt: salt.toString("hex") },
        message: "",
      },
      checksum: { function: "sha256", params: {}, message: checksum },
      cipher: { function: "aes-128-ctr", params: { iv: iv.toString("hex") }, message: encrypted.toString("hex") },
    },
    description,
    pubkey: Buffer.from(publicKey).toString("hex"),
    path,
    uuid: randomUUID(),
    version: 4,
  };
}
