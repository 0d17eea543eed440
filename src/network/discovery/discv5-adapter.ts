import type { EventEmitter } from "node:events";
import { Discv5, type IDiscv5CreateOptions } from "@chainsafe/discv5";
import { type ENR, SignableENR } from "@chainsafe/enr";
import { privateKeyFromRaw } from "@libp2p/crypto/keys";
import { hasValidAddressLengths } from "./discovered-peer.ts";
import type { UdpTransport } from "./udp-transport.ts";

interface Discv5Parts {
  /** The node's private key. */
  key: Uint8Array;
  /** The local ENR in text form. */
  enrText: string;
  transport: UdpTransport;
  /** Adopts the external address that most other nodes report. */
  learnsAddress: boolean;
  lookupTimeoutMs: number;
}

/** Long enough for a busy node to compute the cryptography of the handshake. */
const REQUEST_TIMEOUT_MS = 2_000;

const MAX_VOTES_FOR_ADDRESS = 10;

interface Discv5Events {
  /** Another node returned this ENR. */
  discovered: [record: ENR];
  /** Enough other nodes reported this external address. The library has already written it to its copy of the ENR. */
  multiaddrUpdated: [address: { toOptions(): { host: string; port: number } }];
}

/** Discv5 with typed events; the library takes their types from a package that it does not depend on. */
export type Discv5Service = Discv5 & EventEmitter<Discv5Events>;

// The library is typed against older libp2p versions that are compatible at run time. All casts are in this file.

/** Creates a discv5 service with the given transport, filtering invalid ENRs. */
export function createDiscv5(parts: Discv5Parts): Discv5Service {
  const { key, enrText, transport, learnsAddress, lookupTimeoutMs } = parts;
  const discv5 = Discv5.create({
    enr: SignableENR.decodeTxt(enrText, key),
    privateKey: privateKeyFromRaw(key) as unknown as IDiscv5CreateOptions["privateKey"],
    // Read by the library's own transport only.
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

/** Filters the ENRs that other nodes return. The library validates those of its direct sessions itself. */
function dropInvalidEnrs(discv5: Discv5): void {
  const internals = discv5 as unknown as { discovered(fromId: string, records: ENR[], lookupId?: number): void };
  const discovered = internals.discovered.bind(discv5);
  internals.discovered = (fromId, records, lookupId) =>
    discovered(fromId, records.filter(hasValidAddressLengths), lookupId);
}

/** Adopts an address by majority. The library's fixed number of votes is never reached in a small network. */
function decideAddressByMajority(discv5: Discv5): void {
  const { addrVotes } = discv5 as unknown as { addrVotes: { addrVotesToUpdateEnr: number } };
  Object.defineProperty(addrVotes, "addrVotesToUpdateEnr", {
    get: () => Math.min(MAX_VOTES_FOR_ADDRESS, Math.floor(discv5.connectedPeerCount / 2) + 1),
  });
}

/** Replaces the local ENR. The library's own setters would increase the sequence number. */
export function replaceEnr(discv5: Discv5, enrText: string, key: Uint8Array): void {
  const { sessionService } = discv5;
  const record = SignableENR.decodeTxt(enrText, key);
  const hasMoved = locationOf(record) !== locationOf(sessionService.enr);
  sessionService.enr = record;
  // Other nodes read a node's endpoint only when a session is established.
  if (hasMoved) (sessionService as unknown as { sessions: { clear(): void } }).sessions.clear();
}

function locationOf({ ip, udp, ip6, udp6 }: SignableENR): string {
  return [ip, udp, ip6, udp6].join();
}
