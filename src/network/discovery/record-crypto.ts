import { defaultCrypto, setV4Crypto } from "@chainsafe/enr";
import { LruMap } from "../../chain/lru-map.ts";

/** Packets of discovery have at most 1,280 bytes (discv5-wire.md) and records 300 (EIP-778), so this is a megabyte or two. */
const REMEMBERED_RECORDS = 2_000;

/**
 * In a search, the nodes that are asked tell mostly of the same nodes, and the same from search to search. The library
 * checks the signature of each record that it is told of, which takes it milliseconds: from now on a record that was
 * found good is recognised. Once for each process; what is remembered does not depend on who was told of it.
 */
export function rememberGoodRecords(verify = defaultCrypto.verify): void {
  const good = new LruMap<string, true>(REMEMBERED_RECORDS);
  const nodeIds = new LruMap<string, string>(REMEMBERED_RECORDS);
  setV4Crypto({
    ...defaultCrypto,
    verify(publicKey, message, signature) {
      const record = `${publicKey.length} ${signature.length} ${[publicKey, signature, message].map(textOf).join("")}`;
      if (good.get(record)) return true;
      const isGood = verify(publicKey, message, signature);
      if (isGood) good.set(record, true);
      return isGood;
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
