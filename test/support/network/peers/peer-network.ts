import { randomBytes } from "node:crypto";
import { type fulu, ssz } from "@lodestar/types";
import type { StoredBan } from "../../../../src/db/repositories/meta-repository.ts";
import { createPubsub } from "../../../../src/network/gossip/pubsub.ts";
import { createHost, type Host } from "../../../../src/network/libp2p/host.ts";
import type { DiscoveredPeer } from "../../../../src/network/peers/connector.ts";
import { PeerBans } from "../../../../src/network/peers/peer-bans.ts";
import { PeerManager } from "../../../../src/network/peers/peer-manager.ts";
import { PeerScores } from "../../../../src/network/peers/peer-scores.ts";
import type { PeerStore } from "../../../../src/network/peers/peer-store.ts";
import { RequestError } from "../../../../src/network/reqresp/errors.ts";
import type { BeaconRequests } from "../../../../src/network/reqresp/interface.ts";
import { createRecordingLogger, type RecordingLogger } from "../../log/recording-logger.ts";
import { FakeTimers } from "../../time/fake-timers.ts";
import { PeerChain } from "./peer-chain.ts";

export interface TestPeerOptions {
  genesis?: number;
  targetPeers?: number;
  directPeers?: string[];
  /** Default: stores nothing. */
  store?: Pick<PeerStore, "restore" | "save">;
  /** Default: none. */
  bans?: readonly StoredBan[];
  /** Adds its own address, without the id, to its direct peers. */
  dialsItself?: boolean;
}

const NO_STORE: Pick<PeerStore, "restore" | "save"> = { restore() {}, async save() {} };

/** A node with a real host. Requests between nodes are direct calls. */
export interface TestPeer {
  id: string;
  host: Host;
  manager: PeerManager;
  timers: FakeTimers;
  chain: PeerChain;
  logger: RecordingLogger;
  /** A listening address. */
  address: string;
  metadata: fulu.Metadata;
  /** Goodbye reasons that it received. */
  goodbyes: bigint[];
  /** Kinds of block requests that it received. */
  lookups: ("alone" | "with ancestors")[];
  /** Number of requested lookups. */
  searches: number;
  discover(peer: DiscoveredPeer): void;
  /** Resolves when the condition holds. Checked on every connection event. */
  until(isSo: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export class PeerNetwork {
  readonly #peers = new Map<string, TestPeer>();

  async add({
    genesis,
    targetPeers = 10,
    directPeers = [],
    dialsItself,
    store = NO_STORE,
    bans: storedBans = [],
  }: TestPeerOptions = {}): Promise<TestPeer> {
    const timers = new FakeTimers();
    const chain = new PeerChain({ slot: 5, genesis });
    const scores = new PeerScores({ timers });
    const bans = new PeerBans({ timers });
    bans.restore(storedBans, scores);
    const logger = createRecordingLogger();
    const host = await createHost({
      key: randomBytes(32),
      listen: { address: "127.0.0.1", port: 0 },
      agentVersion: "Test/v1",
      maxConnections: 50,
      pubsub: createPubsub({ config: chain.config }),
      allowPeer: (peerId) => scores.allows(peerId),
      allowAddress: (ip) => bans.allowsAddress(ip),
    });
    await host.start();
    const id = host.peerId.toString();
    const address = String(host.getMultiaddrs()[0]);
    const ownAddress = address.replace(`/p2p/${id}`, "");
    const listeners = new Set<(peer: DiscoveredPeer) => void>();
    const manager = new PeerManager({
      host,
      requests: this.#requests(id),
      chain,
      discovery: {
        onDiscovered(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        search: () => peer.searches++,
      },
      subnets: { wantedAttestation: () => new Set(), wantedSync: () => new Set(), wantedColumns: () => new Set() },
      options: { targetPeers, directPeers: dialsItself ? [ownAddress, ...directPeers] : directPeers },
      logger,
      scores,
      bans,
      store,
      timers,
    });
    const peer: TestPeer = {
      id,
      host,
      manager,
      timers,
      chain,
      logger,
      address,
      metadata: ssz.fulu.Metadata.defaultValue(),
      goodbyes: [],
      lookups: [],
      searches: 0,
      discover: (discovered) => {
        for (const listener of listeners) listener(discovered);
      },
      until: (isSo) => until(host, manager, isSo),
      async close() {
        await manager.close();
        await host.stop();
      },
    };
    this.#peers.set(id, peer);
    manager.start();
    return peer;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#peers.values()].map((peer) => peer.close()));
    this.#peers.clear();
  }

  #requests(self: string): BeaconRequests {
    const peer = (peerId: string): TestPeer => {
      const found = this.#peers.get(peerId);
      if (!found) throw new RequestError("disconnected", "There is no such peer.");
      return found;
    };
    /** Waits for the connection, as a request over the network would. */
    const asked = async (peerId: string): Promise<TestPeer> => {
      const found = peer(peerId);
      await found.until(() => found.host.getConnections(peer(self).host.peerId).length > 0);
      return found;
    };
    return {
      async status(peerId) {
        const { manager, chain } = await asked(peerId);
        manager.onStatus(self, peer(self).chain.status());
        return chain.status();
      },
      async ping(peerId) {
        const { manager, metadata } = await asked(peerId);
        manager.onPing(self, peer(self).metadata.seqNumber);
        return metadata.seqNumber;
      },
      metadata: async (peerId) => (await asked(peerId)).metadata,
      async goodbye(peerId, reason) {
        const { manager, goodbyes } = peer(peerId);
        goodbyes.push(reason);
        manager.onGoodbye(self, reason);
      },
      blocksByRange: async () => [],
      async blocksByRoot(peerId) {
        peer(peerId).lookups.push("alone");
        return [];
      },
      async blocksByHead(peerId) {
        peer(peerId).lookups.push("with ancestors");
        return [];
      },
      blobSidecarsByRange: async () => [],
      blobSidecarsByRoot: async () => [],
      columnSidecarsByRange: async () => [],
      columnSidecarsByRoot: async () => [],
      payloadsByRange: async () => [],
      payloadsByRoot: async () => [],
    };
  }
}

const EVENTS = ["connection:open", "connection:close", "peer:disconnect", "peer:identify"] as const;

async function until(host: Host, manager: PeerManager, isSo: () => boolean): Promise<void> {
  if (isSo()) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  // Runs after the other listeners of the event.
  const look = () => setImmediate(() => isSo() && resolve());
  const end = manager.onChange(look);
  for (const event of EVENTS) host.addEventListener(event, look);
  await promise;
  for (const event of EVENTS) host.removeEventListener(event, look);
  end();
}
