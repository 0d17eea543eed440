import { randomBytes } from "node:crypto";
import { type fulu, ssz } from "@lodestar/types";
import { FakeTimers } from "../../../test/support/fake-timers.ts";
import type { StoredBan } from "../../db/meta-repository.ts";
import { createRecordingLogger, type RecordingLogger } from "../../log/recording-logger.test-support.ts";
import { createPubsub } from "../gossip/pubsub.ts";
import { createHost, type Host } from "../libp2p/host.ts";
import { RequestError } from "../reqresp/errors.ts";
import type { BeaconRequests } from "../reqresp/interface.ts";
import type { FoundPeer } from "./connector.ts";
import { PeerBans } from "./peer-bans.ts";
import { PeerChain } from "./peer-chain.test-support.ts";
import { PeerManager } from "./peer-manager.ts";
import type { PeerMemory } from "./peer-memory.ts";
import { PeerScores } from "./peer-scores.ts";

export interface TestPeerOptions {
  genesis?: number;
  targetPeers?: number;
  directPeers?: string[];
  /** By default it remembers nothing. */
  memory?: Pick<PeerMemory, "recall" | "store">;
  /** By default there are none. */
  bans?: readonly StoredBan[];
  /** It is told to dial its own address, without the id. */
  dialsItself?: boolean;
}

const NO_MEMORY: Pick<PeerMemory, "recall" | "store"> = { recall() {}, async store() {} };

/** A node with a real host; what peers ask each other goes from manager to manager. */
export interface TestPeer {
  id: string;
  host: Host;
  manager: PeerManager;
  timers: FakeTimers;
  chain: PeerChain;
  logger: RecordingLogger;
  /** An address that the node listens on. */
  address: string;
  metadata: fulu.Metadata;
  /** Goodbyes that were said to it. */
  goodbyes: bigint[];
  /** How it was asked for blocks by their roots. */
  lookups: ("alone" | "with ancestors")[];
  /** How often it was asked to search. */
  searches: number;
  find(found: FoundPeer): void;
  /** Resolves when it is so; looked at whenever something happens to a connection. */
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
    memory = NO_MEMORY,
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
    const finders = new Set<(found: FoundPeer) => void>();
    const manager = new PeerManager({
      host,
      requests: this.#requests(id),
      chain,
      discovery: {
        onFound(listener) {
          finders.add(listener);
          return () => finders.delete(listener);
        },
        search: () => peer.searches++,
      },
      subnets: { wantedAttestation: () => new Set(), wantedSync: () => new Set(), wantedColumns: () => new Set() },
      options: { targetPeers, directPeers: dialsItself ? [ownAddress, ...directPeers] : directPeers },
      logger,
      scores,
      bans,
      memory,
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
      find: (found) => {
        for (const finder of finders) finder(found);
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
    /** Over a wire, nothing arrives before the connection it comes by. */
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
    };
  }
}

const EVENTS = ["connection:open", "connection:close", "peer:disconnect", "peer:identify"] as const;

async function until(host: Host, manager: PeerManager, isSo: () => boolean): Promise<void> {
  if (isSo()) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  // Others that listen to the same event come first.
  const look = () => setImmediate(() => isSo() && resolve());
  const end = manager.onChange(look);
  for (const event of EVENTS) host.addEventListener(event, look);
  await promise;
  for (const event of EVENTS) host.removeEventListener(event, look);
  end();
}
