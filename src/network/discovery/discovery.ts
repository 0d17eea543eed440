import { ENR } from "@chainsafe/enr";
import type { BeaconConfig } from "@lodestar/config";
import { toHex } from "@lodestar/utils";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import type { Clock } from "../../chain/clock/clock.ts";
import type { Logger } from "../../log/logger.ts";
import { isGlobalAddress } from "../address-scope.ts";
import type { LocalNode } from "../local-node.ts";
import { standsForAll } from "../networking-options.ts";
import type { FoundPeer, PeerSource } from "../peers/connector.ts";
import { createDiscv5, type Discv5Service, replaceRecord } from "./discv5-adapter.ts";
import { hasGlobalAddress, hasSoundAddresses, readFoundRecord } from "./found-record.ts";
import { rememberGoodRecords } from "./record-crypto.ts";
import { SpacedTask } from "./spaced-task.ts";
import { UdpTransport } from "./udp-transport.ts";

const LOOKUP_TIMEOUT_MS = 20_000;
const BETWEEN_LOOKUPS_MS = 1_000;
/** Others may see us under different addresses, or say so; each change is told to everybody. */
const BETWEEN_OWN_ADDRESSES_MS = 60_000;
/** A new record is told at once to so many of the nodes that we know; the others learn it when they speak with us. */
const NODES_TOLD_OF_RECORD = 64;

interface DiscoveryParts {
  /** The node's private key. */
  key: Uint8Array;
  node: LocalNode;
  bind: { address: string; port: number };
  /** Records in their text form. */
  bootnodes: readonly string[];
  /** Reads records that may be there later; asked before a search for as long as no node is known. */
  readBootnodes?(): readonly string[];
  /** Of nodes that were peers before, in their text form. */
  formerRecords?: readonly string[];
  config: BeaconConfig;
  clock: Pick<Clock, "currentEpoch" | "onSlot">;
  logger: Logger;
  betweenLookupsMs?: number;
}

type FoundListener = (found: FoundPeer) => void;

/** Finds nodes of our chain by their records, and lets others find this node by its own. */
export class Discovery implements PeerSource {
  readonly #parts: DiscoveryParts;
  readonly #listeners = new Set<FoundListener>();
  readonly #lookups: SpacedTask;
  readonly #endings: (() => void)[] = [];
  #bootnodes: ENR[];
  readonly #formerNodes: ENR[];
  #discv5: Discv5Service | undefined;
  #recordText = "";
  #ownAddressSince = Number.NEGATIVE_INFINITY;

  constructor(parts: DiscoveryParts) {
    this.#parts = { ...parts, logger: parts.logger.topic("discovery") };
    this.#bootnodes = parts.bootnodes.flatMap((text) => this.#readRecord(text));
    this.#formerNodes = (parts.formerRecords ?? []).flatMap((text) => this.#readRecord(text));
    this.#lookups = new SpacedTask(() => this.#lookUp(), parts.betweenLookupsMs ?? BETWEEN_LOOKUPS_MS);
  }

  /** Resolves with the UDP port. */
  async start(): Promise<number> {
    const { key, node, bind, clock, logger } = this.#parts;
    rememberGoodRecords();
    const transport = new UdpTransport({ nodeId: toHex(await node.nodeId()).slice(2), bind, logger });
    const recordText = await node.recordText();
    const learnsAddress = standsForAll(bind.address);
    const discv5 = createDiscv5({ key, recordText, transport, learnsAddress, lookupTimeoutMs: LOOKUP_TIMEOUT_MS });
    await discv5.start();
    this.#discv5 = discv5;
    discv5.on("discovered", (record) => this.#offer(record));
    discv5.on("multiaddrUpdated", (address) => this.#onOwnAddress(address.toOptions()));
    this.#endings.push(
      node.onRecordChange((text) => this.#onOwnRecord(text)),
      // Every slot, though forks begin with epochs: after a pause of the process the first slot of an epoch may be left out.
      clock.onSlot(() => this.#renewRecord()),
    );
    this.#useRecord(await node.recordText());
    // Once, as they may have newer records by now. Bootnodes come last, so that theirs are the ones that count.
    for (const former of this.#formerNodes) discv5.addEnr(former);
    this.#addBootnodes(discv5);
    return transport.port;
  }

  async close(): Promise<void> {
    for (const end of this.#endings.splice(0)) end();
    const discv5 = this.#discv5;
    this.#discv5 = undefined;
    discv5?.removeAllListeners();
    this.#lookups.close();
    await discv5?.stop();
  }

  onFound(listener: FoundListener): () => void {
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
      const known = discv5.kadValues();
      for (const record of known) this.#offer(record);
      // Nobody to ask: the library would wait for an answer all the same.
      if (known.length === 0) return;
      const found = await discv5.findRandomNode();
      this.#parts.logger.debug("A search for nodes ended", { found: found.length, known: known.length });
    } catch (error) {
      this.#parts.logger.warn("A search for nodes failed", { error });
    }
  }

  #readRecord(text: string): ENR[] {
    try {
      const record = ENR.decodeTxt(text);
      if (hasSoundAddresses(record)) return [record];
      throw new Error("The record has an address of a wrong length.");
    } catch (error) {
      this.#parts.logger.warn("The record of a node makes no sense and is left out", { record: text, error });
      return [];
    }
  }

  #readBootnodes(): void {
    const records = this.#parts.readBootnodes?.() ?? [];
    if (records.length > 0) this.#bootnodes = records.flatMap((text) => this.#readRecord(text));
  }

  /** Again before each search, because nodes that did not answer for a while may have left the table. */
  #addBootnodes(discv5: Discv5Service): void {
    for (const bootnode of this.#bootnodes) discv5.addEnr(bootnode);
  }

  #offer(record: ENR): void {
    const { config, clock, logger } = this.#parts;
    if (record.nodeId === this.#discv5?.enr.nodeId) return;
    const found = readFoundRecord(record, config, clock.currentEpoch, { onlyGlobal: this.#mustBeGlobal(record) });
    if (!found) return;
    for (const listener of this.#listeners) {
      try {
        listener(found);
      } catch (error) {
        logger.error("A listener to found peers failed", { error });
      }
    }
  }

  /** Drops private addresses on a public network, where a record may name any machine near this node. Bootnodes are trusted. */
  #mustBeGlobal(record: ENR): boolean {
    return this.#isPublic && !this.#bootnodes.some(({ nodeId }) => nodeId === record.nodeId);
  }

  /** By the node's own address; as long as that is not known, by the bootnodes' addresses. */
  get #isPublic(): boolean {
    const ip = this.#parts.node.addresses?.ip ?? this.#parts.bind.address;
    return standsForAll(ip) ? this.#bootnodes.some(hasGlobalAddress) : isGlobalAddress(ip);
  }

  async #renewRecord(): Promise<void> {
    try {
      await this.#parts.node.recordText();
    } catch (error) {
      this.#parts.logger.error("The node's record could not be renewed", { error });
    }
  }

  #onOwnRecord(text: string): void {
    const discv5 = this.#discv5;
    if (!discv5) return;
    this.#useRecord(text);
    for (const record of discv5.kadValues().slice(0, NODES_TOLD_OF_RECORD)) {
      // Whoever sees the new number in the ping asks for the record.
      discv5.sendPing(record).catch(() => {});
    }
  }

  #useRecord(text: string): void {
    this.#recordText = text;
    if (this.#discv5) replaceRecord(this.#discv5, text, this.#parts.key);
  }

  /** The library has put the address into its copy of the record; only the node itself may sign that. */
  #onOwnAddress({ host, port }: { host: string; port: number }): void {
    const { node, logger } = this.#parts;
    this.#useRecord(this.#recordText);
    const now = SYSTEM_TIMERS.now();
    if (!node.addresses || now < this.#ownAddressSince + BETWEEN_OWN_ADDRESSES_MS) return;
    this.#ownAddressSince = now;
    logger.info("Other nodes see this node under an address", { address: host, port });
    node.setAddresses({ ...node.addresses, ip: host, udp: port });
  }
}
