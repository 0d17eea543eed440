import type { EventEmitter } from "node:events";
import { Discv5, type IDiscv5CreateOptions } from "@chainsafe/discv5";
import { type ENR, SignableENR } from "@chainsafe/enr";
import { privateKeyFromRaw } from "@libp2p/crypto/keys";
import { hasValidAddressLengths } from "./discovered-peer.ts";
import type { UdpTransport } from "./udp-transport.ts";

interface Discv5Parts {
  /** The node's private key. */
  key: Uint8Array;
  /** The local ENR as text. */
  enrText: string;
  transport: UdpTransport;
  /** Adopts the external address reported by most other nodes. */
  learnsAddress: boolean;
  lookupTimeoutMs: number;
}

/** Gives a busy node enough time for the handshake's cryptography. */
const REQUEST_TIMEOUT_MS = 2_000;

const MAX_VOTES_FOR_ADDRESS = 10;

interface Discv5Events {
  /** Another node has returned this ENR. */
  discovered: [record: ENR];
  /** Enough nodes have reported this external address. The library has already written it to its copy of the ENR. */
  multiaddrUpdated: [address: { toOptions(): { host: string; port: number } }];
}

/** Discv5 with typed events. The library takes the event types from a package that it does not depend on. */
export type Discv5Service = Discv5 & EventEmitter<Discv5Events>;

// The library is typed against older libp2p versions, which are compatible at run time. All casts are in this file.

/** Creates a discv5 service that uses the given transport and drops invalid ENRs. */
export function createDiscv5(parts: Discv5Parts): Discv5Service {
  const { key, enrText, transport, learnsAddress, lookupTimeoutMs } = parts;
  const discv5 = Discv5.create({
    enr: SignableENR.decodeTxt(enrText, key),
    privateKey: privateKeyFromRaw(key) as unknown as IDiscv5CreateOptions["privateKey"],
    // Only used by the library's own transport.
    bindAddrs: {} as IDiscv5CreateOptions["bindAddrs"],
    transport: transport as unknown as IDiscv5CreateOptions["transport"],
    config: {
      enrUpdate: learnsAddress,
      requestTimeout: REQUEST_TIMEOUT_MS,
      lookupTimeout: lookupTimeoutMs,
    },
  });
  dropInvalidEnrs(discv5);
  decideAddressByMajority(discv5);
  return discv5 as Discv5Service;
}

/** Drops invalid ENRs returned by other nodes. The library itself validates the ENRs from its direct sessions. */
function dropInvalidEnrs(discv5: Discv5): void {
  const internals = discv5 as unknown as { discovered(fromId: string, records: ENR[], lookupId?: number): void };
  const discovered = internals.discovered.bind(discv5);
  internals.discovered = (fromId, records, lookupId) =>
    discovered(fromId, records.filter(hasValidAddressLengths), lookupId);
}

/** Adopts an address by majority. A small network never reaches the library's fixed number of votes. */
function decideAddressByMajority(discv5: Discv5): void {
  const { addrVotes } = discv5 as unknown as { addrVotes: { addrVotesToUpdateEnr: number } };
  Object.defineProperty(addrVotes, "addrVotesToUpdateEnr", {
    get: () => Math.min(MAX_VOTES_FOR_ADDRESS, Math.floor(discv5.connectedPeerCount / 2) + 1),
  });
}

/** Replaces the local ENR. The library's own setters would increase its sequence number. */
export function replaceEnr(discv5: Discv5, enrText: string, key: Uint8Array): void {
  const { sessionService } = discv5;
  const record = SignableENR.decodeTxt(enrText, key);
  const hasMoved = locationOf(record) !== locationOf(sessionService.enr);
  sessionService.enr = record;
  // Other nodes read this node's endpoint only when establishing a session.
  if (hasMoved) (sessionService as unknown as { sessions: { clear(): void } }).sessions.clear();
}

function locationOf({ ip, udp, ip6, udp6 }: SignableENR): string {
  return [ip, udp, ip6, udp6].join();
}
