import { isIPv4 } from "node:net";
import { ENR, SignableENR } from "@chainsafe/enr";
import { byteArrayEquals } from "@lodestar/utils";
import type { RecordEntries } from "./enr-entries.ts";
import { type NodeAddresses, standsForAll } from "./networking-options.ts";

interface RecordContent {
  /** The node's private key. */
  key: Uint8Array;
  entries: RecordEntries;
  addresses: NodeAddresses | undefined;
  /** The newest record that was signed with the key. */
  previous: string | undefined;
}

/** The previous record when it says the same; else one with the next number (EIP-778). */
export function nextRecord({ key, entries, addresses, previous }: RecordContent): string {
  const draft = SignableENR.createV4(key, entries);
  if (addresses) putAddresses(draft, addresses);
  if (previous === undefined) return new SignableENR(draft.kvs, 1n, key).encodeTxt();
  const { kvs, seq } = ENR.decodeTxt(previous);
  return saysTheSame(kvs, draft.kvs) ? previous : new SignableENR(draft.kvs, seq + 1n, key).encodeTxt();
}

/** Ports are told even without an address, which others see for themselves when they are spoken to. */
function putAddresses(record: SignableENR, { ip, tcp, udp }: NodeAddresses): void {
  if (isIPv4(ip)) {
    if (!standsForAll(ip)) record.ip = ip;
    record.tcp = tcp;
    record.udp = udp;
  } else {
    if (!standsForAll(ip)) record.ip6 = ip;
    record.tcp6 = tcp;
    record.udp6 = udp;
  }
}

function saysTheSame(a: ReadonlyMap<string, Uint8Array>, b: ReadonlyMap<string, Uint8Array>): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, value]) => {
    const other = b.get(name);
    return other !== undefined && byteArrayEquals(value, other);
  });
}
