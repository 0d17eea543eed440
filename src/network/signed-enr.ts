import { isIPv4 } from "node:net";
import { ENR, SignableENR } from "@chainsafe/enr";
import { byteArrayEquals } from "@lodestar/utils";
import type { EnrEntries } from "./enr-entries.ts";
import { isUnspecifiedAddress, type NodeAddresses } from "./network-settings.ts";

interface RecordContent {
  /** The node's private key. */
  key: Uint8Array;
  entries: EnrEntries;
  addresses: NodeAddresses | undefined;
  /** The newest ENR signed with this key. */
  previous: string | undefined;
}

/**
 * Returns the previous ENR if its content has not changed, and otherwise a new one with the next sequence number
 * (EIP-778).
 */
export function nextEnr({ key, entries, addresses, previous }: RecordContent): string {
  const draft = SignableENR.createV4(key, entries);
  if (addresses) putAddresses(draft, addresses);
  if (previous === undefined) return new SignableENR(draft.kvs, 1n, key).encodeTxt();
  const { kvs, seq } = ENR.decodeTxt(previous);
  return hasSameEntries(kvs, draft.kvs) ? previous : new SignableENR(draft.kvs, seq + 1n, key).encodeTxt();
}

/** The ports are advertised even without an address, since other nodes see the source address of a packet. */
function putAddresses(record: SignableENR, { ip, tcp, udp }: NodeAddresses): void {
  if (isIPv4(ip)) {
    if (!isUnspecifiedAddress(ip)) record.ip = ip;
    record.tcp = tcp;
    record.udp = udp;
  } else {
    if (!isUnspecifiedAddress(ip)) record.ip6 = ip;
    record.tcp6 = tcp;
    record.udp6 = udp;
  }
}

function hasSameEntries(a: ReadonlyMap<string, Uint8Array>, b: ReadonlyMap<string, Uint8Array>): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, value]) => {
    const other = b.get(name);
    return other !== undefined && byteArrayEquals(value, other);
  });
}
