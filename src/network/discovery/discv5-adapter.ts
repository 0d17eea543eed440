import type { EventEmitter } from "node:events";
import { Discv5, type IDiscv5CreateOptions } from "@chainsafe/discv5";
import { type ENR, SignableENR } from "@chainsafe/enr";
import { privateKeyFromRaw } from "@libp2p/crypto/keys";
import { hasSoundAddresses } from "./found-record.ts";
import type { UdpTransport } from "./udp-transport.ts";

interface Discv5Parts {
  /** The node's private key. */
  key: Uint8Array;
  /** The node's record in its text form. */
  recordText: string;
  transport: UdpTransport;
  /** Whether the node takes the address for its own under which most others see it. */
  learnsAddress: boolean;
  lookupTimeoutMs: number;
}

/** A busy node needs some time for the cryptography of a handshake. */
const REQUEST_TIMEOUT_MS = 2_000;

const MAX_VOTES_FOR_ADDRESS = 10;

interface Discv5Events {
  /** A node told of this record. */
  discovered: [record: ENR];
  /** Enough other nodes see us under this address, which the library has put into its copy of our record. */
  multiaddrUpdated: [address: { toOptions(): { host: string; port: number } }];
}

/** The library's service with the types of its events, which it takes from a package that it does not bring. */
export type Discv5Service = Discv5 & EventEmitter<Discv5Events>;

// The library was made for older versions of libp2p's types. They are the same at run time; the casts all stand here.

export function createDiscv5(parts: Discv5Parts): Discv5Service {
  const { key, recordText, transport, learnsAddress, lookupTimeoutMs } = parts;
  const discv5 = Discv5.create({
    enr: SignableENR.decodeTxt(recordText, key),
    privateKey: privateKeyFromRaw(key) as unknown as IDiscv5CreateOptions["privateKey"],
    // Only the library's own transport reads them.
    bindAddrs: {} as IDiscv5CreateOptions["bindAddrs"],
    transport: transport as unknown as IDiscv5CreateOptions["transport"],
    config: {
      enrUpdate: learnsAddress,
      requestTimeout: REQUEST_TIMEOUT_MS,
      lookupTimeout: lookupTimeoutMs,
    },
  });
  leaveOutUnsoundRecords(discv5);
  decideAddressByMajority(discv5);
  return discv5 as Discv5Service;
}

/** Records that others tell of enter the library here; those of its own peers it has compared with their addresses. */
function leaveOutUnsoundRecords(discv5: Discv5): void {
  const internals = discv5 as unknown as { discovered(fromId: string, records: ENR[], lookupId?: number): void };
  const discovered = internals.discovered.bind(discv5);
  internals.discovered = (fromId, records, lookupId) => discovered(fromId, records.filter(hasSoundAddresses), lookupId);
}

/** The library wants a fixed number of votes, which in a small network never come together. */
function decideAddressByMajority(discv5: Discv5): void {
  const { addrVotes } = discv5 as unknown as { addrVotes: { addrVotesToUpdateEnr: number } };
  Object.defineProperty(addrVotes, "addrVotesToUpdateEnr", {
    get: () => Math.min(MAX_VOTES_FOR_ADDRESS, Math.floor(discv5.connectedPeerCount / 2) + 1),
  });
}

/** Lets the library serve another record; its own ways to change a record would count the number up themselves. */
export function replaceRecord(discv5: Discv5, recordText: string, key: Uint8Array): void {
  const { sessionService } = discv5;
  const record = SignableENR.decodeTxt(recordText, key);
  const hasMoved = locationOf(record) !== locationOf(sessionService.enr);
  sessionService.enr = record;
  // Others look at where a node is only when a session begins.
  if (hasMoved) (sessionService as unknown as { sessions: { clear(): void } }).sessions.clear();
}

function locationOf({ ip, udp, ip6, udp6 }: SignableENR): string {
  return [ip, udp, ip6, udp6].join();
}
