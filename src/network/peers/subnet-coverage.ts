import type { BitArray } from "@chainsafe/ssz";
import type { KnownPeer } from "./known-peers.ts";
import type { PeerCustody } from "./peer-custody.ts";

/** The subnets on which this node needs peers. */
export interface SubnetNeeds {
  wantedAttestation(): ReadonlySet<number>;
  wantedSync(): ReadonlySet<number>;
  wantedColumns(): ReadonlySet<number>;
}

/** Minimum number of peers for a subnet to be reliable. */
export const MIN_PEERS_PER_SUBNET = 4;

/** A subnet of any kind, such as `attestation 3`. */
export type SubnetName = `${"attestation" | "sync" | "column"} ${number}`;

export function wantedSubnets(needs: SubnetNeeds): Set<SubnetName> {
  const wanted = new Set<SubnetName>();
  for (const subnet of needs.wantedAttestation()) wanted.add(`attestation ${subnet}`);
  for (const subnet of needs.wantedSync()) wanted.add(`sync ${subnet}`);
  for (const subnet of needs.wantedColumns()) wanted.add(`column ${subnet}`);
  return wanted;
}

/** Returns a peer's subnets according to its metadata, or otherwise its ENR, and its custody columns. */
export function subnetsOf(peer: KnownPeer, custody: Pick<PeerCustody, "subnetsOf">): SubnetName[] {
  const { attnets, syncnets } = peer.metadata ?? peer.record;
  return [
    ...trueBits(attnets).map((subnet): SubnetName => `attestation ${subnet}`),
    ...trueBits(syncnets).map((subnet): SubnetName => `sync ${subnet}`),
    ...custody.subnetsOf(peer).map((subnet): SubnetName => `column ${subnet}`),
  ];
}

/** Returns the number of peers on each wanted subnet. */
export function countBySubnet(
  wanted: ReadonlySet<SubnetName>,
  peers: Iterable<{ subnets: readonly SubnetName[] }>,
): Map<SubnetName, number> {
  const counts = new Map<SubnetName, number>();
  for (const subnet of wanted) counts.set(subnet, 0);
  for (const { subnets } of peers) {
    for (const subnet of subnets) {
      const count = counts.get(subnet);
      if (count !== undefined) counts.set(subnet, count + 1);
    }
  }
  return counts;
}

/** Returns the wanted subnets with too few peers. */
export function lackingSubnets(counts: ReadonlyMap<SubnetName, number>): Set<SubnetName> {
  return new Set([...counts].filter(([, count]) => count < MIN_PEERS_PER_SUBNET).map(([subnet]) => subnet));
}

function trueBits(bits: BitArray | undefined): number[] {
  return bits ? bits.getTrueBitIndexes() : [];
}
