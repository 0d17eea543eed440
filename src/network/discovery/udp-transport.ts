import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { EventEmitter, once } from "node:events";
import { isIPv4 } from "node:net";
import { decodePacket, encodePacket, type IPacket, MAX_PACKET_SIZE } from "@chainsafe/discv5/packet";
import { getSocketAddressOnENR } from "@chainsafe/discv5/util";
import type { BaseENR } from "@chainsafe/enr";
import { type Multiaddr, multiaddr } from "multiaddr12";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import type { Logger } from "../../log/logger.ts";

const RECEIVE_BUFFER_BYTES = 256 * 1024;

interface UdpTransportParts {
  /** Hex digits without a prefix, as the library writes node ids. */
  nodeId: string;
  bind: { address: string; port: number };
  logger: Logger;
  budget?: PacketRateLimiter;
}

/**
 * UDP transport for discv5 with a per-address rate limit. The library's own transport terminates the process if the
 * port is in use or the address is unusable, and its rate limiter never evicts an address.
 */
export class UdpTransport extends EventEmitter {
  readonly ipMode: { ip4: true; ip6: false } | { ip4: false; ip6: true };
  /** This node's addresses, to which the library sends nothing. */
  bindAddrs: Multiaddr[] = [];
  readonly #parts: UdpTransportParts;
  readonly #budget: PacketRateLimiter;
  #socket: Socket | undefined;

  constructor(parts: UdpTransportParts) {
    super();
    this.#parts = parts;
    this.#budget = parts.budget ?? new PacketRateLimiter();
    this.ipMode = isIPv4(parts.bind.address) ? { ip4: true, ip6: false } : { ip4: false, ip6: true };
  }

  /** The bound port. */
  get port(): number {
    if (!this.#socket) throw new Error("The discovery socket is not open.");
    return this.#socket.address().port;
  }

  async start(): Promise<void> {
    const { address, port } = this.#parts.bind;
    const socket = createSocket({
      type: this.ipMode.ip4 ? "udp4" : "udp6",
      ipv6Only: !this.ipMode.ip4,
      recvBufferSize: RECEIVE_BUFFER_BYTES,
    });
    try {
      socket.bind(port, address);
      await once(socket, "listening");
    } catch (cause) {
      socket.close();
      throw new Error(`Discovery cannot listen on UDP port ${port} of ${address}.`, { cause });
    }
    socket.on("error", (error) => this.#parts.logger.debug("Discovery socket error", { error }));
    socket.on("message", (data, from) => this.#receive(data, from));
    this.#socket = socket;
    this.bindAddrs = [this.#multiaddrOf({ address, port: this.port })];
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    this.#socket = undefined;
    if (!socket) return;
    await new Promise<void>((resolve) => socket.close(() => resolve()));
  }

  /** Sends a packet. Never rejects, since packet loss is expected. */
  async send(to: Multiaddr, toId: string, packet: IPacket): Promise<void> {
    try {
      const { host, port } = to.toOptions();
      this.#socket?.send(encodePacket(toId, packet), port, host, () => {});
    } catch (error) {
      this.#parts.logger.trace("Could not send packet", { error });
    }
  }

  getContactableAddr(record: BaseENR): ReturnType<typeof getSocketAddressOnENR> {
    return getSocketAddressOnENR(record, this.ipMode);
  }

  #receive(data: Uint8Array, from: RemoteInfo): void {
    if (data.length > MAX_PACKET_SIZE || !this.#budget.allows(from.address, SYSTEM_TIMERS.now())) return;
    try {
      this.emit("packet", this.#multiaddrOf(from), decodePacket(this.#parts.nodeId, data));
    } catch (error) {
      this.#parts.logger.trace("Could not decode packet", { from: from.address, error });
    }
  }

  #multiaddrOf({ address, port }: { address: string; port: number }): Multiaddr {
    return multiaddr(`/${this.ipMode.ip4 ? "ip4" : "ip6"}/${address}/udp/${port}`);
  }
}

interface PacketLimits {
  perSecond: number;
  perSecondAndAddress: number;
}

/**
 * Every packet costs a decryption and sometimes a signature check. A single lookup by this node takes a few dozen
 * packets.
 */
const DEFAULT_LIMITS: PacketLimits = { perSecond: 1000, perSecondAndAddress: 200 };

/**
 * Rate limit for inbound packets, both in total and per address. The counters are reset every second, which bounds
 * their number.
 */
export class PacketRateLimiter {
  readonly #limits: PacketLimits;
  readonly #ofAddress = new Map<string, number>();
  #second = 0;
  #allowed = 0;

  constructor(limits: PacketLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /** `nowMs` may come from any monotonic clock. */
  allows(address: string, nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#allowed = 0;
      this.#ofAddress.clear();
    }
    const ofAddress = this.#ofAddress.get(address) ?? 0;
    if (this.#allowed >= this.#limits.perSecond || ofAddress >= this.#limits.perSecondAndAddress) return false;
    this.#allowed++;
    this.#ofAddress.set(address, ofAddress + 1);
    return true;
  }
}
