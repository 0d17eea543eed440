import type { BeaconConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type fulu, ssz } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import type { Clock } from "../chain/clock/clock.ts";
import type { Custody } from "../chain/data/custody.ts";
import { SerialQueue } from "../chain/serial-queue.ts";
import type { BeaconDb } from "../db/beacon-db.ts";
import type { AnnouncedNode } from "../db/meta-repository.ts";
import { recordEntries } from "./enr-entries.ts";
import type { NodeAddresses } from "./networking-options.ts";

interface LocalNodeParts {
  /** The node's private key, 32 bytes. */
  key: Uint8Array;
  config: BeaconConfig;
  clock: Pick<Clock, "currentSlot">;
  /** Keeps the numbers of what was announced; without it they start anew with the process. */
  db?: BeaconDb;
}

/** What a node may change about itself while it runs. */
type Announcement = Partial<Omit<fulu.Metadata, "seqNumber">>;

export interface NodeIdentity {
  /** In base58btc. */
  peerId: string;
  /** The node's signed record in its text form. */
  enr: string;
  /** Multiaddresses that end in the peer id. */
  p2pAddresses: string[];
  discoveryAddresses: string[];
  /** Of the newest shape; what older forks lack is left out when it is written. */
  metadata: fulu.Metadata;
}

type RecordListener = (recordText: string) => void;

/** Who this node is to others: its id, its addresses, its record and its metadata, all of the fork that is in force. */
export class LocalNode {
  readonly #parts: LocalNodeParts;
  readonly #signing = new SerialQueue();
  readonly #listeners = new Set<RecordListener>();
  #metadata: fulu.Metadata;
  #addresses: NodeAddresses | undefined;
  #peerId: string | undefined;
  #recordText: string | undefined;
  /** What the record above says, and the metadata that was stored with it. */
  #announced: string | undefined;

  /** A node that goes on counting where it stopped. */
  static async open(parts: LocalNodeParts & { db: BeaconDb }): Promise<LocalNode> {
    return new LocalNode(parts, (await parts.db.meta.getAnnouncedNode()) ?? undefined);
  }

  constructor(parts: LocalNodeParts, announced?: AnnouncedNode) {
    this.#parts = parts;
    this.#recordText = announced?.record;
    this.#metadata = announced
      ? ssz.fulu.Metadata.deserialize(fromHex(announced.metadata))
      : ssz.fulu.Metadata.defaultValue();
    const custodyGroupCount = Math.max(this.#metadata.custodyGroupCount, parts.config.CUSTODY_REQUIREMENT);
    if (announced) this.#change({ custodyGroupCount });
    else this.#metadata = { ...this.#metadata, custodyGroupCount };
  }

  /** Tells from now on how many custody groups the node keeps; without this it is what others were told before. */
  followCustody(custody: Pick<Custody, "groupCount" | "onRaised">): void {
    this.announce({ custodyGroupCount: custody.groupCount });
    custody.onRaised((custodyGroupCount) => this.announce({ custodyGroupCount }));
  }

  /** Of the newest shape. */
  get metadata(): fulu.Metadata {
    return this.#metadata;
  }

  /** Undefined while nothing listens for others. */
  get addresses(): NodeAddresses | undefined {
    return this.#addresses;
  }

  /** Changes what the node tells about itself; the number of the metadata rises only when it differs. */
  announce(announcement: Announcement): void {
    if (this.#change(announcement)) this.#signSoon();
  }

  /** A node that takes part in nothing must not go on telling the subnets of an earlier run. */
  leaveSubnets(): void {
    const { attnets, syncnets } = ssz.fulu.Metadata.defaultValue();
    this.announce({ attnets, syncnets });
  }

  /** Where the node listens from now on. */
  setAddresses(addresses: NodeAddresses): void {
    this.#addresses = addresses;
    this.#signSoon();
  }

  /** Calls the listener with every new record. Returns the function that ends it. */
  onRecordChange(listener: RecordListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async identity(): Promise<NodeIdentity> {
    const enr = await this.recordText();
    return {
      peerId: await this.peerId(),
      enr,
      p2pAddresses: [...(this.#addresses?.p2pAddresses ?? [])],
      discoveryAddresses: [...(this.#addresses?.discoveryAddresses ?? [])],
      metadata: this.#metadata,
    };
  }

  /** In base58btc. */
  async peerId(): Promise<string> {
    if (this.#peerId === undefined) {
      // The libraries of the network take long to load, and nobody may ever ask.
      const [{ privateKeyFromRaw }, { peerIdFromPrivateKey }] = await Promise.all([
        import("@libp2p/crypto/keys"),
        import("@libp2p/peer-id"),
      ]);
      this.#peerId = peerIdFromPrivateKey(privateKeyFromRaw(this.#parts.key)).toString();
    }
    return this.#peerId;
  }

  /** The id by which discovery knows the node, 32 bytes. */
  async nodeId(): Promise<Uint8Array> {
    const { SignableENR } = await import("@chainsafe/enr");
    return fromHex(SignableENR.createV4(this.#parts.key).nodeId);
  }

  /** The signed record, in text form, that says what is so now. */
  recordText(): Promise<string> {
    return this.#signing.run(() => this.#currentRecord());
  }

  #change(announcement: Announcement): boolean {
    const changed = { ...this.#metadata, ...announcement };
    if (ssz.fulu.Metadata.equals(changed, this.#metadata)) return false;
    this.#metadata = { ...changed, seqNumber: this.#metadata.seqNumber + 1n };
    return true;
  }

  /** Nobody waits for it; should it fail, whoever asks for the record next is told. */
  #signSoon(): void {
    this.recordText().catch(() => {});
  }

  async #currentRecord(): Promise<string> {
    const { config, clock, key } = this.#parts;
    const metadata = this.#metadata;
    const entries = recordEntries(config, computeEpochAtSlot(clock.currentSlot), metadata);
    const { ip, tcp, udp } = this.#addresses ?? {};
    const announced = JSON.stringify([
      Object.entries(entries).map(([name, value]) => [name, toHex(value)]),
      ip,
      tcp,
      udp,
    ]);
    const metadataHex = toHex(ssz.fulu.Metadata.serialize(metadata));
    if (this.#recordText !== undefined && this.#announced === announced + metadataHex) return this.#recordText;

    const { nextRecord } = await import("./signed-enr.ts");
    const record = nextRecord({ key, entries, addresses: this.#addresses, previous: this.#recordText });
    // Written before anybody sees it: a number that was given out must not be used for another content (EIP-778).
    await this.#store({ record, metadata: metadataHex });
    const isNew = record !== this.#recordText;
    this.#recordText = record;
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
