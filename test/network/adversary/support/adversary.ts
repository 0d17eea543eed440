import { noise } from "@chainsafe/libp2p-noise";
import { yamux } from "@chainsafe/libp2p-yamux";
import { generateKeyPair } from "@libp2p/crypto/keys";
import { RPC } from "@libp2p/gossipsub/message";
import { identify } from "@libp2p/identify";
import type { Connection, Libp2p, Stream } from "@libp2p/interface";
import { mplex } from "@libp2p/mplex";
import { tcp } from "@libp2p/tcp";
import type { BeaconConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { type fulu, type SignedBeaconBlock, type Slot, ssz } from "@lodestar/types";
import { multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { compressSync } from "snappy";
import {
  type DataSidecar,
  isColumn,
  serializeSidecar,
  slotOfSidecar,
  subnetOfSidecar,
} from "../../../../src/data/sidecar.ts";
import { GossipTopics, type TopicKind } from "../../../../src/network/gossip/topics.ts";
import { metadataCodec, statusCodec, uint64Codec } from "../../../../src/network/reqresp/message-codecs.ts";
import {
  type Protocol,
  type ProtocolName,
  protocolId,
  servedProtocols,
} from "../../../../src/network/reqresp/protocols.ts";
import { encodeChunk } from "../../../../src/network/reqresp/response-chunk.ts";
import { encodePayload, encodeVarint, readPayload } from "../../../../src/network/reqresp/ssz-snappy.ts";

const MESHSUB = "/meshsub/1.1.0";

export interface AdversaryOptions {
  /** Its reported status. */
  status: () => fulu.Status;
  muxer?: "yamux" | "mplex";
}

/** Writes the response to a request with a decompressed body, if any. */
export type Behaviour = (stream: Stream, request: Protocol & { body: Uint8Array }) => void | Promise<void>;

/** A peer that behaves honestly unless overridden. It has no chain, and does not validate what it sends. */
export class Adversary {
  readonly host: Libp2p;
  /** Overrides of honest responses. It has no blocks. */
  readonly behaviours = new Map<ProtocolName, Behaviour>();
  /** Requests it received. */
  readonly asked: Protocol[] = [];
  /** Gossip it received. */
  readonly heard: RPC[] = [];
  readonly #status: () => fulu.Status;
  #gossipStream: Promise<Stream> | undefined;

  static async open({ status, muxer = "yamux" }: AdversaryOptions): Promise<Adversary> {
    const host = await createLibp2p({
      privateKey: await generateKeyPair("secp256k1"),
      addresses: { listen: [] },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [muxer === "yamux" ? yamux() : mplex({ disconnectThreshold: Number.POSITIVE_INFINITY })],
      connectionManager: { reconnectRetries: 0 },
      connectionMonitor: { enabled: false },
      services: { identify: identify() },
    });
    const adversary = new Adversary(host, status);
    for (const protocol of servedProtocols()) {
      await host.handle(protocolId(protocol), (stream) => adversary.#serve(stream, protocol));
    }
    await host.handle(MESHSUB, (stream) => adversary.#listen(stream));
    return adversary;
  }

  private constructor(host: Libp2p, status: () => fulu.Status) {
    this.host = host;
    this.#status = status;
  }

  get peerId(): string {
    return this.host.peerId.toString();
  }

  get connection(): Connection | undefined {
    return this.host.getConnections().find(({ status }) => status === "open");
  }

  dial(address: string): Promise<Connection> {
    return this.host.dial(multiaddr(address), { force: true });
  }

  /** Sends its status, as the dialing side should. */
  async introduce(): Promise<void> {
    await this.ask({ name: "status", version: 1 }, encodePayload(statusCodec(1).encode(this.#status())));
  }

  /** Sends the bytes as a request. Resolves with the whole response, empty if the stream is lost. */
  async ask(protocol: Protocol, bytes: Uint8Array, { end = true } = {}): Promise<Buffer> {
    try {
      const stream = await this.openStream(protocolId(protocol));
      const answer = everything(stream);
      if (bytes.length > 0) stream.send(bytes);
      if (end) await stream.close();
      return await answer;
    } catch {
      return Buffer.alloc(0);
    }
  }

  async openStream(protocol: string): Promise<Stream> {
    const { connection } = this;
    if (!connection) throw new Error("The adversary is not connected.");
    return connection.newStream([protocol]);
  }

  /** Sends a gossip RPC. Returns false on failure. */
  gossip(rpc: Partial<RPC>): Promise<boolean> {
    return this.gossipBytes(RPC.encode({ subscriptions: [], messages: [], ...rpc }));
  }

  async gossipBytes(envelope: Uint8Array): Promise<boolean> {
    return this.gossipRaw(Buffer.concat([encodeVarint(envelope.length), envelope]));
  }

  /** Sends raw bytes on the gossip stream. */
  async gossipRaw(bytes: Uint8Array): Promise<boolean> {
    try {
      this.#gossipStream ??= this.openStream(MESHSUB);
      const stream = await this.#gossipStream;
      if (!stream.send(bytes)) await stream.onDrain({ signal: AbortSignal.timeout(5_000) });
      return true;
    } catch {
      this.#gossipStream = undefined;
      return false;
    }
  }

  /** Sends compressed data to topics, in one RPC. */
  publish(...messages: RPC.Message[]): Promise<boolean> {
    return this.gossip({ messages });
  }

  /** Sends a block on the topic of its slot. */
  publishBlock(config: BeaconConfig, signed: SignedBeaconBlock): Promise<boolean> {
    const { slot } = signed.message;
    const topic = topicAt(config, slot, "beacon_block");
    return this.publish({ topic, data: compressSync(config.getForkTypes(slot).SignedBeaconBlock.serialize(signed)) });
  }

  /** Sends sidecars on their subnets, one by one. */
  async publishSidecars(config: BeaconConfig, sidecars: readonly DataSidecar[]): Promise<void> {
    for (const sidecar of sidecars) {
      const kind = isColumn(sidecar) ? "data_column_sidecar" : "blob_sidecar";
      const topic = topicAt(config, slotOfSidecar(sidecar), kind, subnetOfSidecar(config, sidecar));
      await this.publish({ topic, data: compressSync(serializeSidecar(sidecar)) });
    }
  }

  async close(): Promise<void> {
    await this.host.stop();
  }

  async #serve(stream: Stream, protocol: Protocol): Promise<void> {
    this.asked.push(protocol);
    try {
      const body = await decodedRequest(await everything(stream));
      const behave = this.behaviours.get(protocol.name) ?? this.#honestly;
      await behave(stream, { ...protocol, body });
    } catch (error) {
      stream.abort(error as Error);
    }
  }

  readonly #honestly: Behaviour = async (stream, { name, version }) => {
    if (name === "status") stream.send(encodeChunk(statusCodec(version).encode(this.#status())));
    if (name === "ping") stream.send(encodeChunk(uint64Codec().encode(0n)));
    if (name === "metadata") stream.send(encodeChunk(metadataCodec(version).encode(ssz.fulu.Metadata.defaultValue())));
    await stream.close();
  };

  async #listen(stream: Stream): Promise<void> {
    let rest = Buffer.alloc(0);
    stream.addEventListener("message", ({ data }) => {
      rest = Buffer.concat([rest, data.subarray()]);
      for (let envelope = takeEnvelope(rest); envelope; envelope = takeEnvelope(rest)) {
        this.heard.push(RPC.decode(envelope.bytes));
        rest = rest.subarray(envelope.end);
      }
    });
  }
}

function topicAt(config: BeaconConfig, slot: Slot, kind: TopicKind, subnet?: number): string {
  const topic = new GossipTopics(config).at(computeEpochAtSlot(slot), kind, subnet);
  if (!topic) throw new Error(`There is no topic ${kind} in slot ${slot}.`);
  return topic.name;
}

async function decodedRequest(bytes: Buffer): Promise<Uint8Array> {
  if (bytes.length === 0) return bytes;
  let position = 0;
  const read = async (count: number) => {
    position += count;
    return bytes.subarray(position - count, position);
  };
  return readPayload({ read }, { minSize: 0, maxSize: bytes.length * 100 }, bytes.length * 100);
}

function takeEnvelope(bytes: Buffer): { bytes: Buffer; end: number } | undefined {
  let length = 0;
  for (const [i, byte] of bytes.subarray(0, 5).entries()) {
    length += (byte & 0x7f) * 2 ** (7 * i);
    const end = i + 1 + length;
    if (byte < 0x80) return end <= bytes.length ? { bytes: bytes.subarray(i + 1, end), end } : undefined;
  }
  return undefined;
}

/** Reads until the other side closes or resets the stream. */
export async function everything(stream: Stream): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  await new Promise<void>((resolve) => {
    if (stream.readableEnded) resolve();
    stream.addEventListener("message", ({ data }) => pieces.push(data.subarray()));
    stream.addEventListener("end", () => resolve());
    stream.addEventListener("close", () => resolve());
  });
  return Buffer.concat(pieces);
}
