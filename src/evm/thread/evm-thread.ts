import type { ForkPostBellatrix, ForkPostDeneb } from "@lodestar/params";
import type { ExecutionPayload, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { SYSTEM_TIMERS } from "../../async/timers.ts";
import {
  type BuiltPayload,
  type ExecutionEngine,
  type ForkchoiceState,
  type ForkchoiceUpdate,
  type ParentPayload,
  type PayloadContext,
  type PayloadId,
  type PayloadRequest,
  PayloadUnavailableError,
  type PayloadVerdict,
  type PooledBlob,
  type TerminalBlockVerdict,
} from "../../execution/engine.ts";
import type { GenesisBlock } from "../../execution/engine-api/genesis-block.ts";
import { WaitingTime } from "../../execution/waiting-time.ts";
import type { Logger } from "../../log/logger.ts";
import { type LogMessage, writeRecord } from "../../log/thread-logger.ts";
import type { Channel } from "../../threads/channel.ts";
import { callService, type Remote, remoteService } from "../../threads/remote.ts";
import type { ThreadPort } from "../../threads/thread.ts";
import type { EvmServices } from "../engine/evm-engine.ts";
import type { ChainTags } from "../eth/block-id.ts";
import { type EthService, SENDING_METHODS } from "../eth/eth-service.ts";
import { ExecutionNeededError } from "../eth/execution-needed.ts";
import type { EthSubscription } from "../eth/logs/subscription.ts";
import { SharedTags } from "../eth/shared-tags.ts";
import type { TransactionRequest } from "../eth/transaction-request.ts";
import { isHeavyRead, type ReadName } from "../reads/read-limits.ts";
import type { ReadConnection, ReadThread } from "../reads/read-thread.ts";
import { AheadBuild } from "./ahead-build.ts";
import type { EngineService } from "./engine-service.ts";
import type { HostServices, SharedCounters } from "./evm-host.ts";
import { ExecutableCount } from "./executable-count.ts";
import { createGenesisBlock } from "./genesis-block.ts";
import type { EvmChainOptions } from "./open-chain.ts";
import { startEvmWorker } from "./start-worker.ts";
import { SupervisedWorker } from "./supervised-worker.ts";
import { ThreadReplica } from "./thread-replica.ts";
import { TransactionWrites } from "./transaction-writes.ts";

/** A proposer fetches its payload within a slot or two. */
const MAX_BUILDS = 16;
/** Recent payloads include all possible heads. */
const MAX_VALID = 64;
const VALID: PayloadVerdict = { status: "valid" };
const OPTIMISTIC: PayloadVerdict = { status: "optimistic" };

/** The node, as seen by the EVM. */
export interface EvmNode extends Required<EvmServices> {
  /** Counter of changes visible to reads, in shared memory. Any thread may increase it. */
  readRevision: Int32Array;
  /** Returns the hash of the execution block at the head of the chain, or null if there is none. */
  headBlockHash(): RootHex | null;
}

interface EvmThreadOptions {
  logger: Logger;
  /** Replaces the worker thread, for tests. */
  startWorker?: () => ThreadPort;
  /** Thread for reads that execute code or search the chain. */
  reads: ReadThread;
}

/** A subscription made by the main thread, which survives restarts of the EVM thread. */
interface Subscription {
  subscription: EthSubscription;
  deliver(results: readonly unknown[]): void;
  onOverload: (() => void) | undefined;
}

/** A payload with the inputs it was built from. */
interface Build {
  args: [fork: ForkPostBellatrix, state: ForkchoiceState, request: PayloadRequest];
  built: BuiltPayload;
  /** Number of chain reverts that preceded the build. */
  reverts: number;
}

/**
 * Execution engine that runs the EVM in a worker thread; only that thread loads the EVM libraries. If the thread stops,
 * it is restarted and synced to the head, and pending calls from the chain are repeated.
 */
export class EvmThread implements ExecutionEngine {
  readonly state = "synced";
  readonly clientVersion = null;
  readonly buildsAtOnce = true;
  /** The `eth_*` methods. */
  readonly eth: EthService = {
    setTags: (tags) => {
      this.#tags = tags;
      this.#sharedTags.set(tags);
      if (this.#node) Atomics.add(this.#node.readRevision, 0, 1);
      if (this.#subscriptions.size === 0) {
        this.#worker.notify("eth.setTags", () => [tags]);
        this.#deliveredTags = tags;
        return;
      }
      const onSet = (isKnown: unknown) => {
        if (isKnown) this.#deliveredTags = tags;
      };
      // After a restart, the thread receives the tags when it is ready.
      this.#worker.call("eth.setTags", [tags]).then(onSet, () => {});
    },
    delivered: async () => {
      // Messages from the thread arrive in order.
      await this.#worker.call("eth.delivered", [], { isRepeated: true });
    },
    call: async (name, args, signal) => {
      if (isHeavyRead(name)) return this.#replica.read(name, args, signal);
      try {
        const result = await this.#worker.call("eth.call", signal ? [name, args, signal] : [name, args]);
        if (SENDING_METHODS.includes(name)) await this.#writes.done();
        return result;
      } catch (error) {
        if (!(error instanceof ExecutionNeededError)) throw error;
        return this.#replica.read(name as ReadName, args, signal);
      }
    },
    subscribe: (subscription, deliver, onOverload) => {
      const id = this.#subscriptionIds++;
      this.#subscriptions.set(id, { subscription, deliver, onOverload });
      // After a restart, the thread receives the subscription when it is ready.
      this.#worker.call("subscribe", [id, subscription]).catch(() => {});
      return () => {
        if (this.#subscriptions.delete(id)) this.#worker.call("unsubscribe", [id]).catch(() => {});
      };
    },
  };
  readonly #logger: Logger;
  readonly #worker: SupervisedWorker;
  /** For reads that execute code or search the chain. */
  readonly #replica: ThreadReplica;
  readonly #writes = new TransactionWrites((hash) => this.#worker.call("control.dropTransaction", [hash]));
  readonly #built = new Map<PayloadId, Build>();
  readonly #ahead = new AheadBuild();
  readonly #waiting = new WaitingTime(SYSTEM_TIMERS);
  /** Number of times the chain was reverted or replaced. */
  #reverts = 0;
  /** Payloads built by this engine, which need no verification. */
  readonly #own = new WeakSet<ExecutionPayload>();
  /** Hashes of recent valid payloads. */
  readonly #valid = new Set<RootHex>();
  #chain: EvmChainOptions | undefined;
  #genesis: GenesisBlock | undefined;
  #node: EvmNode | undefined;
  #tags: ChainTags | undefined;
  /** The tags seen by replicas. Initially all tags refer to block 0. */
  readonly #sharedTags = new SharedTags();
  /** Tags at the last delivery of events to subscriptions. */
  #deliveredTags: ChainTags | undefined;
  readonly #subscriptions = new Map<number, Subscription>();
  #executable = new ExecutableCount();
  /** The last payload built from all transactions of the pool, with the revision of the pool. */
  #emptying: { blockHash: RootHex; revision: number } | undefined;
  #payloadIds = 0;
  #subscriptionIds = 0;
  #stopping: Promise<void> | undefined;

  constructor({ logger, startWorker = startEvmWorker, reads }: EvmThreadOptions) {
    this.#logger = logger;
    this.#worker = new SupervisedWorker({
      startWorker,
      handle: (method, args) => this.#handle(method, args),
      prepare: (channel) => this.#prepare(channel),
      logger: logger.topic("execution"),
    });
    this.#replica = new ThreadReplica({
      reads,
      worker: this.#worker,
      logger: logger.topic("execution"),
      chain: () => ({ options: this.#chain!, store: this.#node!.store }),
      tags: this.#sharedTags.memory,
    });
  }

  /** Resolves if the thread stops too often to be restarted. */
  get failed(): Promise<Error> {
    return this.#worker.failed;
  }

  /** Opens a chain and returns its block 0. */
  async open(chain: EvmChainOptions): Promise<GenesisBlock> {
    this.#genesis = await createGenesisBlock(chain);
    this.#chain = chain;
    const latest = toRootHex(this.#genesis.blockHash);
    this.#sharedTags.set({ latest, safe: latest, finalized: latest });
    return this.#genesis;
  }

  /** Connects the EVM to its node and syncs it to the head. Calls made earlier wait for this. */
  connect(node: EvmNode): Promise<void> {
    this.#node = node;
    return this.#worker.begin();
  }

  /** Stops using the current chain until `restore`, while the database is switched to another chain. */
  detach(): Promise<void> {
    this.#beginHistory();
    return this.#engine("detach", [], { isRepeated: true });
  }

  /** Rebuilds the head and the pool from the database, after start-up or a switch to another chain. */
  async restore(): Promise<void> {
    const head = this.#node?.headBlockHash() ?? null;
    if (head === null) return;
    await this.#engine("restore", [head], { isRepeated: true });
    if (this.#tags) this.eth.setTags(this.#tags);
  }

  /** Returns a service exposed by the thread. Pending calls fail with a `ThreadStoppedError` if the thread stops. */
  service<Name extends keyof HostServices>(name: Name): Remote<HostServices[Name]> {
    return remoteService(async (method, args) => {
      const result = await this.#worker.call(`${name}.${method}`, args);
      if (name === "wallet") await this.#writes.done();
      return result;
    });
  }

  /**
   * Adds a transaction to the pool and stores it. Returns its hash. Throws a `PoolError` if the transaction is
   * rejected.
   */
  async addTransaction(sent: Uint8Array): Promise<Uint8Array> {
    const hash = await this.#engine("addTransaction", [sent]);
    await this.#writes.done();
    return hash;
  }

  /** Returns the number of pooled transactions that a block on the head can include. */
  async executableCount(): Promise<number> {
    const { value, hasHead } = this.#executable;
    if (this.#worker.isIdle && hasHead && value !== undefined) return value;
    // The thread may not know yet that its payload has become the head.
    const emptying = this.#emptying;
    const isEmpty = emptying?.revision === this.#ahead.revision && emptying?.blockHash === this.#node?.headBlockHash();
    return emptying && isEmpty ? 0 : this.service("control").executableCount();
  }

  waitedMs(): number {
    return this.#waiting.ms;
  }

  /** Takes a snapshot of the head and the pool. */
  capture(snapshot: number): Promise<void> {
    return this.#engine("capture", [snapshot], { isRepeated: true });
  }

  /**
   * Reverts to a snapshot. Returns false if the thread has restarted since the snapshot, in which case the caller must
   * use `restore`.
   */
  revert(snapshot: number): Promise<boolean> {
    this.#beginHistory();
    return this.#engine("revert", [snapshot], { isRepeated: true });
  }

  /** Drops snapshots and their states. */
  release(snapshots: readonly number[]): Promise<void> {
    return this.#engine("release", [snapshots], { isRepeated: true });
  }

  /** The engine is always synced. */
  onStateChange(): () => void {
    return () => {};
  }

  async notifyNewPayload(
    fork: ForkPostBellatrix,
    payload: ExecutionPayload,
    context: PayloadContext,
  ): Promise<PayloadVerdict> {
    if (this.#own.has(payload)) return VALID;
    // Before the engine is connected, the chain replays stored blocks. The EVM later restores these blocks from its
    // database.
    if (this.#node === undefined) return OPTIMISTIC;
    const verdict = await this.#engine("notifyNewPayload", [fork, payload, context], { isRepeated: true });
    if (verdict.status === "valid") addTo(this.#valid, toRootHex(payload.blockHash));
    return verdict;
  }

  /**
   * Starts building a payload immediately. Does not wait for the thread if the head is known to be valid, since later
   * calls will see that head.
   */
  async forkchoiceUpdated(
    fork: ForkPostBellatrix,
    state: ForkchoiceState,
    request?: PayloadRequest,
  ): Promise<ForkchoiceUpdate> {
    if (request === undefined) {
      if (!this.#valid.has(state.headBlockHash)) {
        return this.#engine("forkchoiceUpdated", [fork, state], { isRepeated: true });
      }
      this.#worker.notify("engine.setHead", () => {
        this.#executable.onHeadSent();
        return [fork, state];
      });
      return { verdict: VALID, payloadId: null };
    }
    const reverts = this.#reverts;
    const ahead = await this.#ahead.take(request);
    const { verdict, built, emptiesPoolAt } = ahead
      ? { verdict: VALID, built: ahead }
      : await this.#engine("buildPayload", [fork, state, request], { isRepeated: true });
    if (built === null) return { verdict, payloadId: null };
    const blockHash = toRootHex(built.payload.blockHash);
    this.#emptying = emptiesPoolAt === undefined ? undefined : { blockHash, revision: emptiesPoolAt };
    this.#own.add(built.payload);
    addTo(this.#valid, blockHash);
    const payloadId = `0x${(this.#payloadIds++).toString(16).padStart(16, "0")}`;
    this.#built.set(payloadId, { args: [fork, state, request], built, reverts });
    for (const oldest of this.#built.keys()) {
      if (this.#built.size <= MAX_BUILDS) break;
      this.#built.delete(oldest);
    }
    return { verdict, payloadId };
  }

  buildAhead(request: PayloadRequest): void {
    // The thread builds nothing ahead while there are transactions.
    if (this.#worker.isIdle && this.#executable.hasHead && this.#executable.value !== 0) return;
    this.#ahead.begin(request, this.#engine("buildAhead", [request]));
  }

  /** Rebuilds a payload that predates a revert, because the pool has changed. */
  async getPayload(fork: ForkPostBellatrix, payloadId: PayloadId): Promise<BuiltPayload> {
    const build = this.#built.get(payloadId);
    if (build === undefined) throw unknownPayload(payloadId);
    if (build.reverts === this.#reverts) return build.built;
    const { payloadId: again } = await this.forkchoiceUpdated(...build.args);
    if (again === null) throw unknownPayload(payloadId);
    return this.getPayload(fork, again);
  }

  getBlobs(fork: ForkPostDeneb, versionedHashes: readonly Uint8Array[]): Promise<(PooledBlob | null)[]> {
    return this.#engine("getBlobs", [fork, versionedHashes], { isRepeated: true });
  }

  async terminalBlock(): Promise<ParentPayload | null> {
    return this.#genesis ? { blockHash: this.#genesis.blockHash, blockNumber: 0 } : null;
  }

  async judgeTerminalBlock(blockHash: RootHex): Promise<TerminalBlockVerdict> {
    const isGenesis = this.#genesis !== undefined && blockHash === toRootHex(this.#genesis.blockHash);
    return isGenesis ? "terminal" : "not-terminal";
  }

  /** Ends the thread once everything has been stored. Must be called after the chain has been closed. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Resolves once finalized blocks are stored. Never rejects. */
  async flush(): Promise<void> {
    if (this.#worker.isReady) await this.#engine("flush", []).catch(() => {});
  }

  async #stop(): Promise<void> {
    await this.flush();
    await this.#worker.stop();
    this.#replica.forget();
  }

  /**
   * Calls the listener with each connection to a replica of the engine. Other threads can use the connection for reads.
   */
  onReadConnection(listener: (connection: ReadConnection) => void): void {
    this.#replica.onConnection(listener);
  }

  /** Invalidates all payloads built so far. */
  #beginHistory(): void {
    this.#reverts++;
    this.#ahead.drop();
  }

  #engine<Name extends keyof EngineService>(
    name: Name,
    args: Parameters<EngineService[Name]>,
    options?: { isRepeated: boolean },
  ): Promise<Awaited<ReturnType<EngineService[Name]>>> {
    const call = () => this.#worker.call(`engine.${name}`, args, options);
    return this.#waiting.during(call) as Promise<Awaited<ReturnType<EngineService[Name]>>>;
  }

  async #prepare(channel: Channel): Promise<void> {
    this.#replica.forget();
    const { revision, executable } = (await channel.call("open", [this.#chain])) as SharedCounters;
    this.#ahead.connect(revision);
    this.#executable = new ExecutableCount(executable);
    await channel.call("connect", [this.#node!.readRevision]);
    const head = this.#node?.headBlockHash() ?? null;
    if (head !== null) await channel.call("engine.restore", [head]);
    // Subscriptions continue from the last delivered head. The head may have changed since the thread stopped.
    const isKnown = this.#deliveredTags && (await channel.call("eth.setTags", [this.#deliveredTags]));
    if (this.#tags && !isKnown) await channel.call("eth.setTags", [this.#tags]);
    for (const [id, { subscription }] of this.#subscriptions) await channel.call("subscribe", [id, subscription]);
    const tags = this.#tags;
    if (tags && (await channel.call("eth.setTags", [tags]))) this.#deliveredTags = tags;
  }

  /** Handles a call from the thread, to the log or to a service of the node. */
  #handle(method: string, args: readonly unknown[]): unknown {
    if (method === "log") return writeRecord(this.#logger, args as unknown as LogMessage);
    if (method === "estimateGas") return this.#estimateGas(args[0] as TransactionRequest);
    if (method === "deliver") return this.#deliver(...(args as [number[], unknown[]]));
    if (method === "overload") return this.#subscriptions.get(args[0] as number)?.onOverload?.();
    if (this.#node === undefined) throw new Error("The EVM is not connected to a node yet.");
    if (method === "store.putTransaction") {
      const writing = this.#node.store.putTransaction(...(args as Parameters<EvmServices["store"]["putTransaction"]>));
      return this.#writes.add(args[2] as Uint8Array, writing);
    }
    const [service, name] = method.split(".") as [keyof EvmServices, string];
    return callService(this.#node[service], name, args);
  }

  #deliver(ids: readonly number[], results: readonly unknown[]): void {
    for (const id of ids) this.#subscriptions.get(id)?.deliver(results);
  }

  async #estimateGas(call: TransactionRequest): Promise<bigint> {
    return BigInt((await this.#replica.read("estimateGas", { call })).parse() as string);
  }
}

const unknownPayload = (id: PayloadId) =>
  new PayloadUnavailableError(`Unknown payload id ${id}: the EVM has not built it.`);

/** Adds a hash, dropping the oldest hashes if there are too many. */
function addTo(hashes: Set<RootHex>, hash: RootHex): void {
  hashes.add(hash);
  for (const oldest of hashes) {
    if (hashes.size <= MAX_VALID) return;
    hashes.delete(oldest);
  }
}
