import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** Determines the client address behind proxies that append to X-Forwarded-For. */
export class TrustedProxies {
  readonly #networks = new BlockList();

  /** `networks` contains addresses and CIDR blocks. */
  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = "", prefix] = network.split("/");
      const family = isIP(address) === 6 ? "ipv6" : "ipv4";
      if (prefix === undefined) this.#networks.addAddress(address, family);
      else this.#networks.addSubnet(address, Number(prefix), family);
    }
  }

  /**
   * Returns the peer's address. If the peer is a trusted proxy, returns the last address in X-Forwarded-For that is not
   * a trusted proxy. Addresses before that one may be forged.
   */
  clientAddressOf({ headers, socket }: IncomingMessage): string {
    let address = plainAddress(socket.remoteAddress ?? "");
    if (!this.#trusts(address)) return address;
    const hops = headers["x-forwarded-for"]?.toString().split(",") ?? [];
    for (const hop of hops.reverse()) {
      const previous = addressIn(hop);
      if (previous === undefined) break;
      address = plainAddress(previous);
      if (!this.#trusts(address)) break;
    }
    return address;
  }

  #trusts(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#networks.check(address, version === 6 ? "ipv6" : "ipv4");
  }
}

/** Unmaps an IPv4-mapped IPv6 address, as seen on dual-stack sockets. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** Strips the port and brackets from an address. Returns undefined if the address is invalid. */
function addressIn(hop: string): string | undefined {
  const text = hop.trim();
  const address = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(address) === 0 ? undefined : address;
}
