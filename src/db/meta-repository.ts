import type { Epoch, RootHex, Slot } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import { Bucket } from "./keys.ts";
import type { LevelStore, WriteBatch } from "./level-store.ts";

interface CheckpointRecord {
  epoch: Epoch;
  root: RootHex;
}

/** What a node has told others about itself under a number, and so must not tell otherwise under the same number. */
export interface AnnouncedNode {
  /** The newest record that was signed, in its text form. */
  record: string;
  /** The metadata of the networking specification: SSZ in hexadecimal digits. */
  metadata: string;
}

/** From which slot on the data of the finalized chain's blocks is held, and of how many custody groups. */
export interface HeldData {
  from: Slot;
  groups: number;
}

/** Another node that was a good peer of this one. */
export interface RememberedPeer {
  /** In base58btc. */
  id: string;
  /** Multiaddresses, the newest last. */
  addresses: string[];
  /** Its signed record in text form, where it is known. */
  enr: string | null;
  /** Unix milliseconds. */
  lastGoodAt: number;
}

/** A peer that no connection is opened with for a while. */
export interface StoredBan {
  /** In base58btc. */
  peerId: string;
  /** The public IP address that it was last connected from; null where there is none. */
  address: string | null;
  /** Expiry in Unix milliseconds. */
  until: number;
}

/** The names of the single values; `free` values live under a prefix, so that their names cannot meet these. */
const Name = {
  schemaVersion: "schemaVersion",
  identity: "identity",
  finalized: "finalized",
  unverifiedFrom: "unverifiedFrom",
  votes: "votes",
  heldData: "heldData",
  clockSlot: "clockSlot",
  nodeKey: "nodeKey",
  announcedNode: "announcedNode",
  peers: "peers",
  bans: "bans",
  joined: "joined",
} as const;

/** Those of the database and its node; all others are of the chain. */
const NODE_NAMES = [Name.schemaVersion, Name.nodeKey, Name.announcedNode, Name.peers, Name.bans, Name.joined];

/** Single values about the database, its chain and its node. */
export class MetaRepository {
  readonly #store: LevelStore;

  constructor(store: LevelStore) {
    this.#store = store;
  }

  getSchemaVersion(): Promise<number | null> {
    return this.#getJson<number>(Name.schemaVersion);
  }

  /** Whatever tells this chain from every other, as the JSON value that was put. */
  getIdentity(): Promise<unknown> {
    return this.#getJson<unknown>(Name.identity);
  }

  getFinalized(): Promise<CheckpointRecord | null> {
    return this.#getJson<CheckpointRecord>(Name.finalized);
  }

  /** The first slot of the finalized chain whose execution payload was not known to be valid; null when all were. */
  getUnverifiedFrom(): Promise<Slot | null> {
    return this.#getJson<Slot | null>(Name.unverifiedFrom);
  }

  /** Null where nobody has noted it yet. */
  getHeldData(): Promise<HeldData | null> {
    return this.#getJson<HeldData>(Name.heldData);
  }

  /** The votes that fork choice had counted when a state was last stored. */
  getVotes(): Promise<Uint8Array | null> {
    return this.#store.get(Bucket.meta, nameKey(Name.votes));
  }

  /** The slot a dev chain's clock had reached. */
  getClockSlot(): Promise<Slot | null> {
    return this.#getJson<Slot>(Name.clockSlot);
  }

  /** By itself, because a slot passes whether or not there is something else to write. */
  async putClockSlot(slot: Slot): Promise<void> {
    const batch = this.#store.batch();
    new MetaWrites(batch).putClockSlot(slot);
    await batch.write();
  }

  /** The private key of the node's network identity. */
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

  /** Whether other nodes have come to the chain that began with this one. */
  async isJoined(): Promise<boolean> {
    return (await this.#getJson<boolean>(Name.joined)) ?? false;
  }

  async putJoined(): Promise<void> {
    const batch = this.#store.batch();
    new MetaWrites(batch).putJoined();
    await batch.write();
  }

  getFree(name: string): Promise<Uint8Array | null> {
    return this.#store.get(Bucket.meta, freeKey(name));
  }

  /** The free values whose names begin so, by name. */
  async *freeEntries(prefix: string): AsyncGenerator<[name: string, value: Uint8Array]> {
    const first = freeKey(prefix);
    // After all keys that begin with the prefix: no UTF-8 text has this byte.
    const end = Uint8Array.of(...first, 0xff);
    for await (const [key, value] of this.#store.entries(Bucket.meta, { gte: first, lt: end })) {
      yield [new TextDecoder().decode(key).slice(FREE.length), value];
    }
  }

  /** What belongs to the chain and not to the node that holds it. */
  async *chainKeys(): AsyncGenerator<Uint8Array> {
    for await (const key of this.#store.keys(Bucket.meta)) {
      if (!NODE_NAMES.some((name) => byteArrayEquals(key, nameKey(name)))) yield key;
    }
  }

  /** Forgets everything but the schema version, which tells a database without a chain from one that is not ours. */
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

  putFree(name: string, value: Uint8Array): void {
    this.#batch.put(Bucket.meta, freeKey(name), value);
  }

  #putJson(name: string, value: unknown): void {
    this.#batch.put(Bucket.meta, nameKey(name), new TextEncoder().encode(JSON.stringify(value)));
  }
}

function nameKey(name: string): Uint8Array {
  return new TextEncoder().encode(name);
}

const FREE = "free/";

function freeKey(name: string): Uint8Array {
  return nameKey(`${FREE}${name}`);
}
