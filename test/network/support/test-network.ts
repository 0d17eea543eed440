import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import type { Slot, ValidatorIndex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { onTestFailed, onTestFinished } from "vitest";
import { VirtualClock } from "../../../src/chain/clock/virtual-clock.ts";
import { devChainConfig } from "../../../src/dev/chain-config.ts";
import type { ScheduledFork } from "../../../src/dev/forks.ts";
import { createDevGenesis } from "../../../src/dev/genesis.ts";
import type { GenesisBuilders } from "../../../src/dev/genesis-parameters.ts";
import { rulesFromConsensus } from "../../../src/evm/execution/forks.ts";
import { DEFAULT_CHAIN_ID } from "../../../src/evm/genesis.ts";
import { createGenesisBlock } from "../../../src/evm/thread/genesis-block.ts";
import type { GenesisBlock } from "../../../src/execution/engine-api/genesis-block.ts";
import { removableDirectory } from "../../support/directories/removable-directory.ts";
import type { RandomChoices } from "../../support/random/random-choices.ts";
import { TestNode, type TestNodeOptions } from "./test-node.ts";

export const GENESIS_TIME = 1_700_000_000;
export const SECONDS_PER_SLOT = 2;
const LAST_LINES = 40;

export interface TestNetworkOptions {
  validators: number;
  forks?: readonly ScheduledFork[];
  /** Real milliseconds per slot. */
  slotMs?: number;
  /** Block 0 of the EVM of every node; by default nodes have the built-in engine. */
  evm?: GenesisBlock;
  /** Builders at genesis; none by default. */
  builders?: GenesisBuilders;
  /** Registers cleanup; by default at the end of the running test. */
  cleanUp?: (work: () => Promise<void>) => void;
}

/** Creates block 0 of the EVM of a network. */
export function createEvmGenesis(forks: readonly ScheduledFork[]): Promise<GenesisBlock> {
  const config = devChainConfig({ forks, slotSeconds: SECONDS_PER_SLOT, genesisTime: GENESIS_TIME });
  const chain = { chainId: DEFAULT_CHAIN_ID, genesisTime: GENESIS_TIME, slotsPerEpoch: SLOTS_PER_EPOCH };
  const rules = rulesFromConsensus(config, chain);
  return createGenesisBlock({ rules, genesisTime: GENESIS_TIME, secondsPerSlot: SECONDS_PER_SLOT });
}

/** Complete nodes in this process, connected over loopback. They share one clock, which the test starts. */
export class TestNetwork {
  readonly config: BeaconConfig;
  readonly clock: VirtualClock;
  readonly nodes: TestNode[] = [];
  readonly #genesis: CachedBeaconStateAllForks;
  readonly #validators: number;
  readonly #hasEvm: boolean;
  readonly #cleanUp: (work: () => Promise<void>) => void;
  /** Partition of each node, by its id. */
  readonly #parts = new Map<string, number>();
  #isRunning = false;

  constructor({ validators, forks = [], slotMs = 160, evm, builders, cleanUp }: TestNetworkOptions) {
    const chainConfig = devChainConfig({
      forks,
      slotSeconds: SECONDS_PER_SLOT,
      genesisTime: GENESIS_TIME,
      evm: evm && { chainId: DEFAULT_CHAIN_ID, genesisBlockHash: toRootHex(evm.blockHash) },
    });
    const { state, config } = createDevGenesis({
      chainConfig,
      validatorCount: validators,
      genesisTime: GENESIS_TIME,
      ...(builders && { builders }),
      ...(evm && { executionGenesis: evm, depositsElsewhere: true }),
    });
    this.#hasEvm = evm !== undefined;
    this.config = config;
    this.#genesis = state;
    this.#validators = validators;
    this.clock = new VirtualClock({
      genesisTime: GENESIS_TIME,
      secondsPerSlot: SECONDS_PER_SLOT,
      startSlot: 0,
      speed: (SECONDS_PER_SLOT * 1000) / slotMs,
      onListenerError: (error) => {
        throw error;
      },
    });
    this.#cleanUp = cleanUp ?? onTestFinished;
    this.#cleanUp(() => this.close());
    if (cleanUp) return;
    onTestFailed(() => {
      for (const [i, node] of this.nodes.entries()) {
        console.error(`The last lines of node ${i}:\n${node.log.slice(-LAST_LINES).join("")}`);
      }
    });
  }

  /** Adds a node connected to the given ones. It starts at genesis unless given a later state. */
  async add(
    validators: readonly ValidatorIndex[],
    peers: readonly TestNode[] = [],
    options: Partial<
      Pick<
        TestNodeOptions,
        | "anchor"
        | "directory"
        | "targetPeers"
        | "timing"
        | "restsAt"
        | "authority"
        | "discovery"
        | "supernode"
        | "blobs"
        | "requestLimits"
        | "syncLimits"
      >
    > = {},
  ): Promise<TestNode> {
    const { path: directory, remove } = removableDirectory();
    const node: TestNode = await TestNode.open({
      config: this.config,
      clock: this.clock,
      anchor: this.#genesis,
      directory,
      validatorCount: this.#validators,
      hasEvm: this.#hasEvm,
      validators,
      peers: peers.map(({ address }) => address),
      allowPeer: (peerId) => this.#isReachable(node.peerId, peerId),
      ...options,
    });
    this.#cleanUp(async () => {
      await node.close();
      remove();
    });
    this.nodes.push(node);
    await node.networking.start();
    return node;
  }

  /** Resolves when all nodes are connected to each other, and the block topics have their meshes. */
  async untilConnected(peers = 1): Promise<void> {
    for (const { networking } of this.nodes) {
      await until(
        (wake) => networking.network.peers.onChange(wake),
        () => networking.network.peers.list().length >= peers,
      );
      const { pubsub } = networking.network.host.services;
      await until(
        (wake) => {
          pubsub.addEventListener("gossipsub:graft", wake);
          return () => pubsub.removeEventListener("gossipsub:graft", wake);
        },
        () => Object.entries(networking.view.gossipPeers().mesh).some(isBlockMesh),
      );
    }
  }

  /** Runs the clock until the duties of the slot are done. */
  async runTo(slot: Slot): Promise<void> {
    const reached = this.clock.untilTime(this.clock.slotStartSeconds(slot + 1) - 0.01);
    if (!this.#isRunning) this.clock.run();
    this.#isRunning = true;
    await reached;
  }

  /** Partitions the network into the groups. Other nodes form one more group. */
  async divide(...groups: TestNode[][]): Promise<void> {
    this.#parts.clear();
    for (const [part, group] of groups.entries()) for (const { peerId } of group) this.#parts.set(peerId, part);
    const connections = this.nodes.flatMap(({ peerId, networking }) =>
      networking.network.host
        .getConnections()
        .filter(({ remotePeer }) => !this.#isReachable(peerId, remotePeer.toString())),
    );
    await Promise.all(connections.map((connection) => connection.close()));
  }

  /** Every node loses this share of the gossip messages that it receives. Heartbeats announce lost messages again. */
  loseGossip(share: number, random: RandomChoices): void {
    for (const { networking } of this.nodes) {
      const pubsub = networking.network.host.services.pubsub as unknown as {
        handleReceivedRpc(from: unknown, rpc: { messages: unknown[] }): Promise<void>;
      };
      const handle = pubsub.handleReceivedRpc.bind(pubsub);
      pubsub.handleReceivedRpc = (from, rpc) => {
        rpc.messages = rpc.messages.filter(() => !random.chance(share));
        return handle(from, rpc);
      };
    }
  }

  /** Heals the partition. */
  heal(): void {
    this.#parts.clear();
  }

  #isReachable(from: string, to: string): boolean {
    return this.#parts.get(from) === this.#parts.get(to);
  }

  /** Runs the clock until the condition holds at the end of a slot, or the test times out. */
  async runUntil(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await this.runTo(this.clock.currentSlot + 1);
  }

  /** Resolves when the nodes agree on the head. */
  async untilSameHead(nodes: readonly TestNode[] = this.nodes): Promise<void> {
    await until(
      (wake) => {
        const stops = nodes.map(({ chain }) => chain.events.on("head", wake));
        return () => {
          for (const stop of stops) stop();
        };
      },
      () => new Set(nodes.map(({ chain }) => chain.head.root)).size === 1,
    );
  }

  async close(): Promise<void> {
    await this.clock.stop();
    await Promise.all(this.nodes.map((node) => node.close()));
  }
}

const isBlockMesh = ([topic, peers]: [string, unknown[]]) => topic.includes("/beacon_block/") && peers.length > 0;

/** Waits for a condition, checked on every notification of `subscribe`. */
export async function until(subscribe: (wake: () => void) => () => void, isTrue: () => boolean): Promise<void> {
  if (isTrue()) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = subscribe(() => {
    if (isTrue()) resolve();
  });
  try {
    await promise;
  } finally {
    stop();
  }
}

/** Numbers in [first, last). */
export const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
