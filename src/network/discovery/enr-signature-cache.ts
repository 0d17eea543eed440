import { defaultCrypto, setV4Crypto } from "@chainsafe/enr";
import { LruMap } from "../../collections/lru-map.ts";

/** An ENR has at most 300 bytes (EIP-778), so both caches together take one or two megabytes. */
const MAX_CACHED_ENRS = 2_000;

/**
 * Caches ENR signature checks and node ids for the whole process. Lookups mostly return the same ENRs, and each check
 * takes the library several milliseconds.
 */
export function cacheEnrSignatures(verify = defaultCrypto.verify): void {
  const verified = new LruMap<string, true>(MAX_CACHED_ENRS);
  const nodeIds = new LruMap<string, string>(MAX_CACHED_ENRS);
  setV4Crypto({
    ...defaultCrypto,
    verify(publicKey, message, signature) {
      const record = `${publicKey.length} ${signature.length} ${[publicKey, signature, message].map(textOf).join("")}`;
      if (verified.get(record)) return true;
      const isValid = verify(publicKey, message, signature);
      if (isValid) verified.set(record, true);
      return isValid;
    },
    nodeId(publicKey) {
      const key = textOf(publicKey);
      const nodeId = nodeIds.get(key) ?? defaultCrypto.nodeId(publicKey);
      nodeIds.set(key, nodeId);
      return nodeId;
    },
  });
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}
