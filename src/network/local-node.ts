import type { BeaconConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type fulu, ssz } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { SerialQueue } from "../async/serial-queue.ts";
import type { Clock } from "../chain/clock/clock.ts";
import type { Custody } from "../chain/data/custody.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { AnnouncedNode } from "../db/repositories/meta-repository.ts";
import { enrEntries } from "./enr-entries.ts";
import type { NodeAddresses } from "./network-settings.ts";

interface LocalNodeParts {
  /** The node's private key (32 bytes). */
  key: Uint8Array;
  config: BeaconConfig;
  clock: Pick<Clock, "currentSlot">;
  /** Persists the sequence numbers. If there is no database, they start over with each process. */
  db?: BeaconDb;
}

/** Metadata fields that can change at run time. */
type Announcement = Partial<Omit<fulu.Metadata, "seqNumber">>;

export interface NodeIdentity {
  /** In base58btc. */
  peerId: string;
  /** The signed ENR as text. */
  enr: string;
  /** Multiaddrs, each ending with the peer id. */
  p2pAddresses: string[];
  discoveryAddresses: string[];
  /** In the newest format. Serialization drops the fields that older forks lack. */
  metadata: fulu.Metadata;
}

type RecordListener = (enrText: string) => void;

/** This node's identity on the network: peer id, addresses, ENR and metadata for the current fork. */
export class LocalNode {
  readonly #parts: LocalNodeParts;
  readonly #signing = new SerialQueue();
  readonly #listeners = new Set<RecordListener>();
  #metadata: fulu.Metadata;
  #addresses: NodeAddresses | undefined;
  #peerId: string | undefined;
  #localEnr: string | undefined;
  /** Content of the current ENR, and the metadata stored with it. */
  #announced: string | undefined;

  /** Restores the previous run's ENR and metadata, so that sequence numbers continue. */
  static async open(parts: LocalNodeParts & { db: BeaconDb }): Promise<LocalNode> {
    return new LocalNode(parts, (await parts.db.meta.getAnnouncedNode()) ?? undefined);
  }

  constructor(parts: LocalNodeParts, announced?: AnnouncedNode) {
    this.#parts = parts;
    this.#localEnr = announced?.record;
    this.#metadata = announced
      ? ssz.fulu.Metadata.deserialize(fromHex(announced.metadata))
      : ssz.fulu.Metadata.defaultValue();
    const custodyGroupCount = Math.max(this.#metadata.custodyGroupCount, parts.config.CUSTODY_REQUIREMENT);
    if (announced) this.#change({ custodyGroupCount });
    else this.#metadata = { ...this.#metadata, custodyGroupCount };
  }

  /**
   * Announces the custody group count now and whenever it is raised. Until this call, the count from the previous run
   * is announced.
   */
  followCustody(custody: Pick<Custody, "groupCount" | "onRaised">): void {
    this.announce({ custodyGroupCount: custody.groupCount });
    custody.onRaised((custodyGroupCount) => this.announce({ custodyGroupCount }));
  }

  /** The metadata in the newest format. */
  get metadata(): fulu.Metadata {
    return this.#metadata;
  }

  /** Undefined until the network listens. */
  get addresses(): NodeAddresses | undefined {
    return this.#addresses;
  }

  /** Changes the metadata. The sequence number increases only if a value differs. */
  announce(announcement: Announcement): void {
    if (this.#change(announcement)) this.#signSoon();
  }

  /** Stops announcing subnets from an earlier run, for a node without networking. */
  leaveSubnets(): void {
    const { attnets, syncnets } = ssz.fulu.Metadata.defaultValue();
    this.announce({ attnets, syncnets });
  }

  setAddresses(addresses: NodeAddresses): void {
    this.#addresses = addresses;
    this.#signSoon();
  }

  /** Calls the listener with every new ENR. Returns an unsubscribe function. */
  onEnrChange(listener: RecordListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async identity(): Promise<NodeIdentity> {
    const enr = await this.enrText();
    return {
      peerId: await this.peerId(),
      enr,
      p2pAddresses: [...(this.#addresses?.p2pAddresses ?? [])],
      discoveryAddresses: [...(this.#addresses?.discoveryAddresses ?? [])],
      metadata: this.#metadata,
    };
  }

  /** Returns the peer id in base58btc. */
  async peerId(): Promise<string> {
    if (this.#peerId === undefined) {
      // Loaded lazily, because the networking libraries are slow to load and may never be needed.
      const [{ privateKeyFromRaw }, { peerIdFromPrivateKey }] = await Promise.all([
        import("@libp2p/crypto/keys"),
        import("@libp2p/peer-id"),
      ]);
      this.#peerId = peerIdFromPrivateKey(privateKeyFromRaw(this.#parts.key)).toString();
    }
    return this.#peerId;
  }

  /** Returns the discv5 node id (32 bytes). */
  async nodeId(): Promise<Uint8Array> {
    const { SignableENR } = await import("@chainsafe/enr");
    return fromHex(SignableENR.createV4(this.#parts.key).nodeId);
  }

  /** Returns the signed ENR as text, updated for the current fork, addresses and metadata. */
  enrText(): Promise<string> {
    return this.#signing.run(() => this.#currentRecord());
  }

  #change(announcement: Announcement): boolean {
    const changed = { ...this.#metadata, ...announcement };
    if (ssz.fulu.Metadata.equals(changed, this.#metadata)) return false;
    this.#metadata = { ...changed, seqNumber: this.#metadata.seqNumber + 1n };
    return true;
  }

  /** Updates the ENR in the background. If this fails, the next call of `enrText` reports the error. */
  #signSoon(): void {
    this.enrText().catch(() => {});
  }

  async #currentRecord(): Promise<string> {
    const { config, clock, key } = this.#parts;
    const metadata = this.#metadata;
    const entries = enrEntries(config, computeEpochAtSlot(clock.currentSlot), metadata);
    const { ip, tcp, udp } = this.#addresses ?? {};
    const announced = JSON.stringify([
      Object.entries(entries).map(([name, value]) => [name, toHex(value)]),
      ip,
      tcp,
      udp,
    ]);
    const metadataHex = toHex(ssz.fulu.Metadata.serialize(metadata));
    if (this.#localEnr !== undefined && this.#announced === announced + metadataHex) return this.#localEnr;

    const { nextEnr } = await import("./signed-enr.ts");
    const record = nextEnr({ key, entries, addresses: this.#addresses, previous: this.#localEnr });
    // Stored before it is published, because a sequence number must not be reused for different content (EIP-778).
    await this.#store({ record, metadata: metadataHex });
    const isNew = record !== this.#localEnr;
    this.#localEnr = record;
    this.#announced = announced + metadataHex;
    if (isNew) for (const listener of this.#listeners) listener(record);
    return record;
  }

  async #store(announced: AnnouncedNode): Promise<void> {
    const { db } = this.#parts;
    if (!db) return;
    const batch = db.batch();
    batch.meta.putAnnouncedNode(announced);
    await batch.write();
  }
}
