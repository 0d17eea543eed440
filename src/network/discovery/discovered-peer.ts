import type { ENR } from "@chainsafe/enr";
import type { BeaconConfig } from "@lodestar/config";
import { type Epoch, type phase0, ssz } from "@lodestar/types";
import { isGlobalAddress } from "../address-scope.ts";
import type { DiscoveredPeer } from "../peers/connector.ts";

/**
 * Converts an ENR, whose signature must have been verified, to a dialable peer. Returns null for a node on another
 * chain or without a usable TCP endpoint. With `onlyGlobal`, the address must be globally routable.
 */
export function toDiscoveredPeer(
  record: ENR,
  config: BeaconConfig,
  currentEpoch: Epoch,
  { onlyGlobal = false } = {},
): DiscoveredPeer | null {
  try {
    const eth2 = record.kvs.get("eth2");
    if (!eth2 || !isCompatibleFork(config, currentEpoch, ssz.phase0.ENRForkID.deserialize(eth2), record.kvs.get("nfd")))
      return null;
    const location = tcpLocation(record, onlyGlobal);
    if (!location) return null;
    const peerId = record.peerId.toString();
    const attnets = record.kvs.get("attnets");
    const syncnets = record.kvs.get("syncnets");
    const cgc = record.kvs.get("cgc");
    return {
      peerId,
      enr: record.encodeTxt(),
      address: `${location}/p2p/${peerId}`,
      ...(attnets && { attnets: ssz.phase0.AttestationSubnets.deserialize(attnets) }),
      ...(syncnets && { syncnets: ssz.altair.SyncSubnets.deserialize(syncnets) }),
      ...(cgc && { custodyGroupCount: numberOf(cgc) }),
    };
  } catch {
    // Any node can sign an ENR whose content is invalid.
    return null;
  }
}

export function hasGlobalAddress({ ip, ip6 }: Pick<ENR, "ip" | "ip6">): boolean {
  return [ip, ip6].some((address) => address !== undefined && isGlobalAddress(address));
}

function tcpLocation({ kvs }: ENR, onlyGlobal: boolean): string | null {
  const isAllowed = (address: string) => !onlyGlobal || isGlobalAddress(address);
  const ip = kvs.get("ip");
  const port = portOf(kvs.get("tcp"));
  if (port !== null && ip?.length === 4 && isUnicast4(ip) && isAllowed(ip.join("."))) {
    return `/ip4/${ip.join(".")}/tcp/${port}`;
  }
  const ip6 = kvs.get("ip6");
  const port6 = portOf(kvs.get("tcp6"));
  if (port6 !== null && ip6?.length === 16 && isUnicast6(ip6) && isAllowed(textOfIp6(ip6))) {
    return `/ip6/${textOfIp6(ip6)}/tcp/${port6}`;
  }
  return null;
}

function portOf(bytes: Uint8Array | undefined): number | null {
  if (!bytes || bytes.length > 2) return null;
  return numberOf(bytes) || null;
}

/** Reads a big-endian integer. */
function numberOf(bytes: Uint8Array): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

/** Excludes "this host" (0/8), multicast and reserved addresses. */
function isUnicast4([first = 0]: Uint8Array): boolean {
  return first !== 0 && first < 224;
}

/** Excludes the unspecified address and multicast (ff00::/8). */
function isUnicast6(ip: Uint8Array): boolean {
  return ip.some((byte) => byte !== 0) && ip[0] !== 0xff;
}

function textOfIp6(ip: Uint8Array): string {
  return Array.from({ length: 8 }, (_, i) => (ip[2 * i]! * 256 + ip[2 * i + 1]!).toString(16)).join(":");
}

/**
 * Checks that a node is on our chain and follows our forks (phase0/p2p-interface.md, eth2 field). An ENR signed before
 * a fork is accepted if it announces that fork. From fulu on, `nfd` must match as well (fulu/p2p-interface.md, Next
 * fork digest).
 */
function isCompatibleFork(
  config: BeaconConfig,
  currentEpoch: Epoch,
  remote: phase0.ENRForkID,
  nextForkDigest: Uint8Array | undefined,
): boolean {
  // A digest commits to the genesis validators root, so a digest that we know belongs to our chain.
  const boundary = config.forkDigest2ForkBoundaryOption(remote.forkDigest);
  if (!boundary) return false;
  const local = config.getForkBoundaryAtEpoch(currentEpoch);
  if (boundary.epoch === local.epoch) return true;
  // Tolerates a clock that runs slightly fast.
  if (boundary.epoch > local.epoch) return boundary.epoch <= currentEpoch + 1;
  const { nextForkEpoch, nextForkVersion } = remote;
  if (nextForkEpoch > currentEpoch) return false;
  const next = config.getForkBoundaryAtEpoch(nextForkEpoch);
  if (next.epoch !== nextForkEpoch) return false;
  if (nextForkDigest && !ssz.ForkDigest.equals(nextForkDigest, config.forkBoundary2ForkDigest(next))) return false;
  return ssz.Version.equals(nextForkVersion, config.getForkInfoAtEpoch(nextForkEpoch).version);
}

const ADDRESS_LENGTHS = { ip: 4, ip6: 16, tcp: 2, udp: 2, tcp6: 2, udp6: 2 };

/**
 * Checks the lengths of the endpoint entries. The library takes them for granted and throws when it sends to an ENR
 * with invalid lengths.
 */
export function hasValidAddressLengths({ kvs }: Pick<ENR, "kvs">): boolean {
  return Object.entries(ADDRESS_LENGTHS).every(([name, length]) => (kvs.get(name)?.length ?? length) === length);
}
