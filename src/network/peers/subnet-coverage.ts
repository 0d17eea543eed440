import type { BitArray } from "@chainsafe/ssz";
import type { KnownPeer } from "./known-peers.ts";
import type { PeerCustody } from "./peer-custody.ts";

/** The subnets that this node needs peers on. */
export interface SubnetNeeds {
  wantedAttestation(): ReadonlySet<number>;
  wantedSync(): ReadonlySet<number>;
  wantedColumns(): ReadonlySet<number>;
}

/** With fewer peers than this on a subnet, its messages may not arrive. */
export const ENOUGH_ON_SUBNET = 4;

/** A subnet of any kind, such as `attestation 3`. */
export type SubnetName = `${"attestation" | "sync" | "column"} ${number}`;

/** The subnets that the node needs peers on. */
export function wantedSubnets(needs: SubnetNeeds): Set<SubnetName> {
  const wanted = new Set<SubnetName>();
  for (const subnet of needs.wantedAttestation()) wanted.add(`attestation ${subnet}`);
  for (const subnet of needs.wantedSync()) wanted.add(`sync ${subnet}`);
  for (const subnet of needs.wantedColumns()) wanted.add(`column ${subnet}`);
  return wanted;
}

/** The subnets that a peer is on, by its metadata or else by its record, and by the columns that it keeps. */
export function subnetsOf(peer: KnownPeer, custody: Pick<PeerCustody, "subnetsOf">): SubnetName[] {
  const { attnets, syncnets } = peer.metadata ?? peer.record;
  return [
    ...trueBits(attnets).map((subnet): SubnetName => `attestation ${subnet}`),
    ...trueBits(syncnets).map((subnet): SubnetName => `sync ${subnet}`),
    ...custody.subnetsOf(peer).map((subnet): SubnetName => `column ${subnet}`),
  ];
}

/** How many of the peers are on each of the wanted subnets. */
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

/** The wanted subnets with too few peers. */
export function lackingSubnets(counts: ReadonlyMap<SubnetName, number>): Set<SubnetName> {
  return new Set([...counts].filter(([, count]) => count < ENOUGH_ON_SUBNET).map(([subnet]) => subnet));
}

function trueBits(bits: BitArray | undefined): number[] {
  return bits ? bits.getTrueBitIndexes() : [];
}
