import type { BeaconConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type fulu, ssz } from "@lodestar/types";
import type { Clock } from "../chain/clock/clock.ts";
import { boundariesUpTo, recordEntries } from "./record-entries.ts";

export interface LocalNodeParts {
  /** The node's private key, 32 bytes. */
  key: Uint8Array;
  config: BeaconConfig;
  clock: Pick<Clock, "currentSlot">;
}

/** What a node may change about itself while it runs. */
export type Announcement = Partial<Omit<fulu.Metadata, "seqNumber">>;

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

interface SignedRecord {
  seq: bigint;
  text: string;
}

/** Who this node is to others: its id, its record and its metadata, all of the fork that is in force. */
export class LocalNode {
  readonly #parts: LocalNodeParts;
  #metadata: fulu.Metadata;
  #peerId: string | undefined;
  #record: SignedRecord | undefined;

  constructor(parts: LocalNodeParts) {
    this.#parts = parts;
    this.#metadata = { ...ssz.fulu.Metadata.defaultValue(), custodyGroupCount: parts.config.CUSTODY_REQUIREMENT };
  }

  /** Changes what the node tells about itself; the number of the metadata rises only when it differs. */
  announce(announcement: Announcement): void {
    const changed = { ...this.#metadata, ...announcement };
    if (ssz.fulu.Metadata.equals(changed, this.#metadata)) return;
    this.#metadata = { ...changed, seqNumber: this.#metadata.seqNumber + 1n };
  }

  /** Nothing listens for others, so there are no addresses. */
  async identity(): Promise<NodeIdentity> {
    const metadata = this.#metadata;
    return {
      peerId: await this.#id(),
      enr: await this.#recordText(metadata),
      p2pAddresses: [],
      discoveryAddresses: [],
      metadata,
    };
  }

  async #id(): Promise<string> {
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

  async #recordText(metadata: fulu.Metadata): Promise<string> {
    const { key, config, clock } = this.#parts;
    const { SignableENR } = await import("@chainsafe/enr");
    const epoch = computeEpochAtSlot(clock.currentSlot);
    // A record changes with the forks and with the metadata, and its number must rise each time (EIP-778).
    const seq = metadata.seqNumber + BigInt(boundariesUpTo(config, epoch));
    if (this.#record?.seq !== seq) {
      const { kvs } = SignableENR.createV4(key, recordEntries(config, epoch, metadata));
      this.#record = { seq, text: new SignableENR(kvs, seq, key).encodeTxt() };
    }
    return this.#record.text;
  }
}
