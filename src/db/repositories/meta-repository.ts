import type { Epoch, RootHex, Slot } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import { Bucket } from "../keys.ts";
import type { LevelStore } from "../level/level-store.ts";
import type { WriteBatch } from "../level/write-batch.ts";

interface CheckpointRecord {
  epoch: Epoch;
  root: RootHex;
}

/** ENR and metadata last announced by the node. Changing their contents requires a higher sequence number. */
export interface AnnouncedNode {
  /** The newest signed ENR, in text form. */
  record: string;
  /** Metadata as defined by the p2p specification: SSZ in hex. */
  metadata: string;
}

/** Data sidecars stored for the finalized chain: first slot and number of custody groups. */
export interface HeldData {
  from: Slot;
  groups: number;
}

/** A peer remembered across restarts. */
export interface RememberedPeer {
  /** Peer ID in base58btc. */
  id: string;
  /** Multiaddresses, newest last. */
  addresses: string[];
  /** ENR in text form, if known. */
  enr: string | null;
  /** Unix milliseconds. */
  lastGoodAt: number;
}

/** A banned peer. */
export interface StoredBan {
  /** Peer ID in base58btc. */
  peerId: string;
  /** Public IP address of the peer's last connection; null if unknown. */
  address: string | null;
  /** Expiry in Unix milliseconds. */
  until: number;
}

/** Keys of the built-in values. Custom values have a prefix, so their names cannot collide with these keys. */
const Name = {
  schemaVersion: "schemaVersion",
  identity: "identity",
  finalized: "finalized",
  unverifiedFrom: "unverifiedFrom",
  votes: "votes",
  recentBlocks: "recentBlocks",
  heldData: "heldData",
  clockSlot: "clockSlot",
  nodeKey: "nodeKey",
  announcedNode: "announcedNode",
  peers: "peers",
  bans: "bans",
  joined: "joined",
} as const;

const DELETED_AT_ONCE = 1000;

/** Values that belong to the database or the node. All other values belong to the chain. */
const NODE_NAMES = [Name.schemaVersion, Name.nodeKey, Name.announcedNode, Name.peers, Name.bans, Name.joined];

/** Individual values about the database, the chain and the node. */
export class MetaRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  getSchemaVersion(): Promise<number | null> {
    return this.#getJson<number>(Name.schemaVersion);
  }

  /** Returns the JSON value that identifies the chain. */
  getIdentity(): Promise<unknown> {
    return this.#getJson<unknown>(Name.identity);
  }

  getFinalized(): Promise<CheckpointRecord | null> {
    return this.#getJson<CheckpointRecord>(Name.finalized);
  }

  /**
   * Returns the first slot of the finalized chain whose execution payload is not known to be valid; null if all
   * payloads are.
   */
  getUnverifiedFrom(): Promise<Slot | null> {
    return this.#getJson<Slot | null>(Name.unverifiedFrom);
  }

  /** Returns null if no range has been stored yet. */
  getHeldData(): Promise<HeldData | null> {
    return this.#getJson<HeldData>(Name.heldData);
  }

  /** Returns the votes counted by fork choice when a state was last stored. */
  getVotes(): Promise<Uint8Array | null> {
    return this.#store.get(Bucket.meta, nameKey(Name.votes));
  }

  /** Returns what was known about the newest blocks at the last shutdown. */
  getRecentBlocks<T>(): Promise<T | null> {
    return this.#getJson<T>(Name.recentBlocks);
  }

  /** Returns the last slot of a dev chain's clock. */
  getClockSlot(): Promise<Slot | null> {
    return this.#getJson<Slot>(Name.clockSlot);
  }

  /** Not part of a batch, because slots pass without other writes. */
  async putClockSlot(slot: Slot): Promise<void> {
    const batch = this.#store.batch();
    new MetaWrites(batch).putClockSlot(slot);
    await batch.write();
  }

  /** Returns the private key of the node's network identity. */
  getNodeKey(): Promise<Uint8Array | null> {
    return this.#store.get(Bucket.meta, nameKey(Name.nodeKey));
  }

  getAnnouncedNode(): Promise<AnnouncedNode | null> {
    return this.#getJson<AnnouncedNode>(Name.announcedNode);
  }

  getPeers(): Promise<RememberedPeer[] | null> {
    return this.#getJson<RememberedPeer[]>(Name.peers);
  }

  getBans(): Promise<StoredBan[] | null> {
    return this.#getJson<StoredBan[]>(Name.bans);
  }

  /** True once other nodes have joined this node's dev chain. */
  async isJoined(): Promise<boolean> {
    return (await this.#getJson<boolean>(Name.joined)) ?? false;
  }

  async putJoined(): Promise<void> {
    const batch = this.#store.batch();
    new MetaWrites(batch).putJoined();
    await batch.write();
  }

  getCustom(name: string): Promise<Uint8Array | null> {
    return this.#store.get(Bucket.meta, customKey(name));
  }

  /** Iterates over the custom values whose names start with the prefix, in name order. */
  async *customEntries(prefix: string, from = prefix): AsyncGenerator<[name: string, value: Uint8Array]> {
    for await (const { key, value } of this.rawCustomEntries(prefix, from)) {
      yield [new TextDecoder().decode(key).slice(CUSTOM.length), value];
    }
  }

  /** Like `customEntries`, but yields raw database keys. */
  async *rawCustomEntries(
    prefix: string,
    from = prefix,
  ): AsyncGenerator<{ bucket: number; key: Uint8Array; value: Uint8Array }> {
    // Exclusive end of the range: 0xff does not occur in UTF-8.
    const end = Uint8Array.of(...customKey(prefix), 0xff);
    for await (const [key, value] of this.#store.entries(Bucket.meta, { gte: customKey(from), lt: end })) {
      yield { bucket: Bucket.meta, key, value };
    }
  }

  /** Deletes the custom values whose names start with the prefix. */
  async deleteCustoms(prefix: string): Promise<void> {
    let batch = this.#store.batch();
    let count = 0;
    for await (const [name] of this.customEntries(prefix)) {
      new MetaWrites(batch).deleteCustom(name);
      if (++count % DELETED_AT_ONCE > 0) continue;
      await batch.write();
      batch = this.#store.batch();
    }
    await batch.write();
  }

  /** Iterates over the keys that belong to the chain rather than to the node. */
  async *chainKeys(): AsyncGenerator<Uint8Array> {
    for await (const key of this.#store.keys(Bucket.meta)) {
      if (!NODE_NAMES.some((name) => byteArrayEquals(key, nameKey(name)))) yield key;
    }
  }

  /** Deletes everything but the schema version, which marks the database as ours. */
  async clear(): Promise<void> {
    const batch = this.#store.batch();
    for await (const key of this.#store.keys(Bucket.meta)) {
      if (!byteArrayEquals(key, nameKey(Name.schemaVersion))) batch.delete(Bucket.meta, key);
    }
    await batch.write();
  }

  async #getJson<T>(name: string): Promise<T | null> {
    const value = await this.#store.get(Bucket.meta, nameKey(name));
    return value === null ? null : (JSON.parse(new TextDecoder().decode(value)) as T);
  }
}

export class MetaWrites {
  readonly #batch: WriteBatch;

  constructor(batch: WriteBatch) {
    this.#batch = batch;
  }

  putSchemaVersion(version: number): void {
    this.#putJson(Name.schemaVersion, version);
  }

  putIdentity(identity: unknown): void {
    this.#putJson(Name.identity, identity);
  }

  putFinalized({ epoch, root }: CheckpointRecord): void {
    this.#putJson(Name.finalized, { epoch, root });
  }

  putUnverifiedFrom(slot: Slot | null): void {
    this.#putJson(Name.unverifiedFrom, slot);
  }

  putHeldData({ from, groups }: HeldData): void {
    this.#putJson(Name.heldData, { from, groups });
  }

  putVotes(votes: Uint8Array): void {
    this.#batch.put(Bucket.meta, nameKey(Name.votes), votes);
  }

  deleteVotes(): void {
    this.#batch.delete(Bucket.meta, nameKey(Name.votes));
  }

  putRecentBlocks(blocks: unknown): void {
    this.#putJson(Name.recentBlocks, blocks);
  }

  putClockSlot(slot: Slot): void {
    this.#putJson(Name.clockSlot, slot);
  }

  putNodeKey(key: Uint8Array): void {
    this.#batch.put(Bucket.meta, nameKey(Name.nodeKey), key);
  }

  putAnnouncedNode({ record, metadata }: AnnouncedNode): void {
    this.#putJson(Name.announcedNode, { record, metadata });
  }

  putPeers(peers: readonly RememberedPeer[]): void {
    this.#putJson(Name.peers, peers);
  }

  putBans(bans: readonly StoredBan[]): void {
    this.#putJson(Name.bans, bans);
  }

  putJoined(): void {
    this.#putJson(Name.joined, true);
  }

  putCustom(name: string, value: Uint8Array): void {
    this.#batch.put(Bucket.meta, customKey(name), value);
  }

  deleteCustom(name: string): void {
    this.#batch.delete(Bucket.meta, customKey(name));
  }

  #putJson(name: string, value: unknown): void {
    this.#batch.put(Bucket.meta, nameKey(name), new TextEncoder().encode(JSON.stringify(value)));
  }
}

function nameKey(name: string): Uint8Array {
  return new TextEncoder().encode(name);
}

const CUSTOM = "free/";

function customKey(name: string): Uint8Array {
  return nameKey(`${CUSTOM}${name}`);
}
