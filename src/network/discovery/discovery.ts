import { ENR } from "@chainsafe/enr";
import type { BeaconConfig } from "@lodestar/config";
import { toHex } from "@lodestar/utils";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import type { Clock } from "../../chain/clock/clock.ts";
import type { Logger } from "../../log/logger.ts";
import { isGlobalAddress } from "../address-scope.ts";
import type { LocalNode } from "../local-node.ts";
import { isUnspecifiedAddress } from "../network-settings.ts";
import type { DiscoveredPeer, PeerSource } from "../peers/connector.ts";
import { hasGlobalAddress, hasValidAddressLengths, toDiscoveredPeer } from "./discovered-peer.ts";
import { createDiscv5, type Discv5Service, replaceEnr } from "./discv5-adapter.ts";
import { cacheEnrSignatures } from "./enr-signature-cache.ts";
import { ThrottledTask } from "./throttled-task.ts";
import { UdpTransport } from "./udp-transport.ts";

const LOOKUP_TIMEOUT_MS = 20_000;
const LOOKUP_PAUSE_MS = 1_000;
/**
 * Minimum interval between changes of this node's address. Other nodes may report different addresses, and every change
 * is announced.
 */
const ADDRESS_CHANGE_INTERVAL_MS = 60_000;
/**
 * Number of nodes to ping after this node's ENR has changed. The remaining nodes learn about the change on their next
 * contact.
 */
const MAX_PINGS_AFTER_ENR_CHANGE = 64;

interface DiscoveryParts {
  /** The node's private key. */
  key: Uint8Array;
  node: LocalNode;
  bind: { address: string; port: number };
  /** ENRs as text. */
  bootnodes: readonly string[];
  /** Reads the bootnodes again before each lookup while the routing table is empty. */
  readBootnodes?(): readonly string[];
  /** ENRs of former peers, as text. */
  storedEnrs?: readonly string[];
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch" | "onSlot">;
  logger: Logger;
  betweenLookupsMs?: number;
}

type DiscoveryListener = (found: DiscoveredPeer) => void;

/** Uses discv5 to find peers on the same chain and to announce this node's ENR. */
export class Discovery implements PeerSource {
  readonly #parts: DiscoveryParts;
  readonly #listeners = new Set<DiscoveryListener>();
  readonly #lookups: ThrottledTask;
  readonly #unsubscribes: (() => void)[] = [];
  #bootnodes: ENR[];
  readonly #formerNodes: ENR[];
  #discv5: Discv5Service | undefined;
  #localEnr = "";
  #addressChangedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: DiscoveryParts) {
    this.#parts = { ...parts, logger: parts.logger.topic("discovery") };
    this.#bootnodes = parts.bootnodes.flatMap((text) => this.#parseEnr(text));
    this.#formerNodes = (parts.storedEnrs ?? []).flatMap((text) => this.#parseEnr(text));
    this.#lookups = new ThrottledTask(() => this.#lookUp(), parts.betweenLookupsMs ?? LOOKUP_PAUSE_MS);
  }

  /** Starts the UDP listener and returns its port. */
  async start(): Promise<number> {
    const { key, node, bind, clock, logger } = this.#parts;
    cacheEnrSignatures();
    const transport = new UdpTransport({ nodeId: toHex(await node.nodeId()).slice(2), bind, logger });
    const enrText = await node.enrText();
    const learnsAddress = isUnspecifiedAddress(bind.address);
    const discv5 = createDiscv5({ key, enrText, transport, learnsAddress, lookupTimeoutMs: LOOKUP_TIMEOUT_MS });
    await discv5.start();
    this.#discv5 = discv5;
    discv5.on("discovered", (record) => this.#emitPeer(record));
    discv5.on("multiaddrUpdated", (address) => this.#onExternalAddress(address.toOptions()));
    this.#unsubscribes.push(
      node.onEnrChange((text) => this.#onLocalEnr(text)),
      // Checked every slot, even though forks start at epoch boundaries, because a suspended process may miss the first
      // slot of an epoch.
      clock.onSlot(() => this.#updateLocalEnr()),
    );
    this.#setLocalEnr(await node.enrText());
    // Added only once, since these ENRs may be outdated. Bootnodes are added last, so their ENRs take precedence.
    for (const former of this.#formerNodes) discv5.addEnr(former);
    this.#addBootnodes(discv5);
    return transport.port;
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
    const discv5 = this.#discv5;
    this.#discv5 = undefined;
    discv5?.removeAllListeners();
    this.#lookups.close();
    await discv5?.stop();
  }

  onDiscovered(listener: DiscoveryListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  search(): void {
    if (this.#discv5) this.#lookups.request();
  }

  async #lookUp(): Promise<void> {
    const discv5 = this.#discv5;
    if (!discv5) return;
    try {
      if (discv5.kadValues().length === 0) this.#readBootnodes();
      this.#addBootnodes(discv5);
      const nodes = discv5.kadValues();
      for (const record of nodes) this.#emitPeer(record);
      // If no nodes are known, the library would wait for its lookup timeout.
      if (nodes.length === 0) return;
      const records = await discv5.findRandomNode();
      this.#parts.logger.debug("Peer lookup finished", { found: records.length, known: nodes.length });
    } catch (error) {
      this.#parts.logger.warn("Peer lookup failed", { error });
    }
  }

  #parseEnr(text: string): ENR[] {
    try {
      const record = ENR.decodeTxt(text);
      if (hasValidAddressLengths(record)) return [record];
      throw new Error("An address or port in the ENR has the wrong length.");
    } catch (error) {
      this.#parts.logger.warn("Ignored invalid ENR", { enr: text, error });
      return [];
    }
  }

  #readBootnodes(): void {
    const records = this.#parts.readBootnodes?.() ?? [];
    if (records.length > 0) this.#bootnodes = records.flatMap((text) => this.#parseEnr(text));
  }

  /** Adds the bootnodes again before each lookup, since unresponsive ones may have left the routing table. */
  #addBootnodes(discv5: Discv5Service): void {
    for (const bootnode of this.#bootnodes) discv5.addEnr(bootnode);
  }

  #emitPeer(record: ENR): void {
    const { config, clock, logger } = this.#parts;
    if (record.nodeId === this.#discv5?.enr.nodeId) return;
    const peer = toDiscoveredPeer(record, config, clock.currentEpoch, { onlyGlobal: this.#mustBeGlobal(record) });
    if (!peer) return;
    for (const listener of this.#listeners) {
      try {
        listener(peer);
      } catch (error) {
        logger.error("Discovered peer listener failed", { error });
      }
    }
  }

  /**
   * On a public network, peers with private addresses are dropped, because an ENR could point to any machine near this
   * node. Bootnodes are trusted.
   */
  #mustBeGlobal(record: ENR): boolean {
    return this.#isPublic && !this.#bootnodes.some(({ nodeId }) => nodeId === record.nodeId);
  }

  /** True if this node's own address is public or, while that address is unknown, if a bootnode's address is. */
  get #isPublic(): boolean {
    const ip = this.#parts.node.addresses?.ip ?? this.#parts.bind.address;
    return isUnspecifiedAddress(ip) ? this.#bootnodes.some(hasGlobalAddress) : isGlobalAddress(ip);
  }

  async #updateLocalEnr(): Promise<void> {
    try {
      await this.#parts.node.enrText();
    } catch (error) {
      this.#parts.logger.error("Could not update the local ENR", { error });
    }
  }

  #onLocalEnr(text: string): void {
    const discv5 = this.#discv5;
    if (!discv5) return;
    this.#setLocalEnr(text);
    for (const record of discv5.kadValues().slice(0, MAX_PINGS_AFTER_ENR_CHANGE)) {
      // A node that sees a higher sequence number in the ping requests the new ENR.
      discv5.sendPing(record).catch(() => {});
    }
  }

  #setLocalEnr(text: string): void {
    this.#localEnr = text;
    if (this.#discv5) replaceEnr(this.#discv5, text, this.#parts.key);
  }

  /** Restores the signed ENR, which the library has overwritten, and requests a new ENR with the new address. */
  #onExternalAddress({ host, port }: { host: string; port: number }): void {
    const { node, logger } = this.#parts;
    this.#setLocalEnr(this.#localEnr);
    const now = SYSTEM_TIMERS.now();
    if (!node.addresses || now < this.#addressChangedAt + ADDRESS_CHANGE_INTERVAL_MS) return;
    this.#addressChangedAt = now;
    logger.info("Discovered external address", { address: host, port });
    node.setAddresses({ ...node.addresses, ip: host, udp: port });
  }
}
