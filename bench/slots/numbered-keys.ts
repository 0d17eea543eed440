import { aggregatePublicKeys, type PublicKey, SecretKey } from "@chainsafe/blst";
import type { ValidatorIndex } from "@lodestar/types";

const KEY_BYTES = 32;

/** Returns index + 1 as the secret key, so that public keys can be computed by addition. */
export function numberedSecretKey(index: ValidatorIndex): SecretKey {
  const bytes = Buffer.alloc(KEY_BYTES);
  bytes.writeUInt32BE(index + 1, KEY_BYTES - 4);
  return SecretKey.fromBytes(bytes);
}

/** Yields the compressed public keys of the first validators. */
export function* numberedPublicKeys(count: number): Generator<Uint8Array> {
  const first = numberedSecretKey(0).toPublicKey();
  let key: PublicKey = first;
  for (let index = 0; index < count; index++) {
    if (index > 0) key = aggregatePublicKeys([key, first]);
    yield key.toBytes();
  }
}
