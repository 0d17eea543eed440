import { aggregatePublicKeys, type PublicKey, SecretKey } from "@chainsafe/blst";
import type { ValidatorIndex } from "@lodestar/types";

const KEY_BYTES = 32;

/** The secret key of each validator is its index plus one, so that public keys are found by addition alone. */
export function numberedSecretKey(index: ValidatorIndex): SecretKey {
  const bytes = Buffer.alloc(KEY_BYTES);
  bytes.writeUInt32BE(index + 1, KEY_BYTES - 4);
  return SecretKey.fromBytes(bytes);
}

/** The public keys of the first validators, in their compressed form. */
export function* numberedPublicKeys(count: number): Generator<Uint8Array> {
  const first = numberedSecretKey(0).toPublicKey();
  let key: PublicKey = first;
  for (let index = 0; index < count; index++) {
    if (index > 0) key = aggregatePublicKeys([key, first]);
    yield key.toBytes();
  }
}
