import type { ENR } from "@chainsafe/enr";

const ADDRESS_LENGTHS = { ip: 4, ip6: 16, tcp: 2, udp: 2, tcp6: 2, udp6: 2 };

/**
 * Whether the addresses in a record have the lengths that the library takes for granted. Anybody can sign a record in which
 * they have not, and the library fails when it wants to send something there.
 */
export function hasSoundAddresses({ kvs }: Pick<ENR, "kvs">): boolean {
  return Object.entries(ADDRESS_LENGTHS).every(([name, length]) => (kvs.get(name)?.length ?? length) === length);
}
