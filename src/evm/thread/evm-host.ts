import type { MessagePort } from "node:worker_threads";
import { createThreadLogger, type LogMessage } from "../../log/thread-logger.ts";
import { Channel, type ChannelPort } from "../../threads/channel.ts";
import { callService, remoteService } from "../../threads/remote.ts";
import { createEvmCrypto, type EvmCrypto } from "../crypto.ts";
import { DevWallet } from "../engine/dev-wallet.ts";
import { EvmControl } from "../engine/evm-control.ts";
import { EvmEngine, type EvmServices } from "../engine/evm-engine.ts";
import type { GasEstimator } from "../eth/accounts/signer.ts";
import { LocalEthService } from "../eth/local-eth-service.ts";
import type { EthSubscription } from "../eth/logs/subscription.ts";
import { BlockFeed } from "../reads/block-feed.ts";
import { EngineService } from "./engine-service.ts";
import { EVM_ERRORS } from "./errors.ts";
import { ExecutableCount } from "./executable-count.ts";
import { type EvmChainOptions, openChain } from "./open-chain.ts";

/** Method that the node calls without waiting for an answer. */
const SET_HEAD = "engine.setHead";

/** Services exposed by the thread. Arguments and results are structured-cloneable. */
export type HostServices = ReturnType<typeof createServices>;

function createServices(engine: EvmEngine, estimateGas: GasEstimator) {
  return {
    engine: new EngineService(engine),
    wallet: new DevWallet(engine),
    control: new EvmControl(engine),
    eth: new LocalEthService(engine, estimateGas),
  };
}

/** Counters in memory shared with the thread. */
export interface SharedCounters {
  /** Of changes to the pool. */
  revision: Int32Array;
  /** Of the `ExecutableCount`. */
  executable: Int32Array;
}

/** Runs a chain's EVM at one end of a channel. The database, the blocks and the log are at the other end. */
export class EvmHost {
  readonly #channel: Channel;
  readonly #crypto: Promise<EvmCrypto>;
  readonly #executable = new ExecutableCount();
  #engine: EvmEngine | undefined;
  #services: Partial<HostServices> = {};
  /** Unsubscribe functions by subscription id. */
  readonly #subscriptions = new Map<number, () => void>();
  /** The most recently delivered results, with the ids of their subscriptions. */
  #delivery: { ids: number[]; results: readonly unknown[]; delivered: Promise<unknown> } | undefined;

  /** The chains of a thread share their cryptography. */
  constructor(port: ChannelPort, crypto = createEvmCrypto()) {
    this.#crypto = crypto;
    this.#channel = new Channel(port, { handle: (method, args) => this.#answer(method, args), errors: EVM_ERRORS });
  }

  /** Throws if no chain is open. */
  get engine(): EvmEngine {
    if (this.#engine === undefined) throw new Error("The EVM has no chain yet.");
    return this.#engine;
  }

  /** Creates a chain's engine at block 0. Returns memory shared with the thread. */
  async open(options: EvmChainOptions): Promise<SharedCounters> {
    const send = (record: LogMessage) => this.#channel.notify("log", record);
    const logger = createThreadLogger({ send }, "execution");
    this.#engine = new EvmEngine({ ...openChain(options, await this.#crypto), logger });
    this.#services = createServices(
      this.#engine,
      (request) => this.#channel.call("estimateGas", [request]) as Promise<bigint>,
    );
    return { revision: this.#engine.revision, executable: this.#executable.memory };
  }

  /** Connects the engine to the node at the other end. */
  connect(readRevision: Int32Array): void {
    const remote = <T extends object>(name: string) =>
      remoteService<T>((method, args) => this.#channel.call(`${name}.${method}`, args)) as unknown as T;
    const services = {
      history: remote<EvmServices["history"]>("history"),
      store: this.#remoteStore(),
      kzg: remote<EvmServices["kzg"]>("kzg"),
      proposals: remote<NonNullable<EvmServices["proposals"]>>("proposals"),
    };
    this.engine.connect(services, readRevision);
  }

  /** Waits for all writes except those of transactions, which the other end confirms only after they are stored. */
  #remoteStore(): EvmServices["store"] {
    const call = async (method: string, args: readonly unknown[]) =>
      method === "store.putTransaction" ? this.#channel.notify(method, args) : this.#channel.call(method, args);
    return remoteService<EvmServices["store"]>((name, args) => call(`store.${name}`, args));
  }

  /** Sends a subscription's results to the other end. */
  #subscribe(id: number, subscription: EthSubscription): void {
    const end = this.#services.eth!.subscribe(
      subscription,
      (results) => this.#deliver(id, results),
      () => this.#channel.notify("overload", [id]),
    );
    this.#subscriptions.set(id, () => {
      end();
      this.#subscriptions.delete(id);
    });
  }

  /** Sends the same results to several subscriptions at once. Resolves after delivery. */
  #deliver(id: number, results: readonly unknown[]): Promise<unknown> {
    if (this.#delivery?.results === results) {
      this.#delivery.ids.push(id);
      return this.#delivery.delivered;
    }
    const ids = [id];
    const send = () => this.#channel.call("deliver", [ids, results]).catch(() => {});
    const delivered = Promise.resolve().then(send);
    this.#delivery = { ids, results, delivered };
    return delivered;
  }

  /**
   * Keeps a replica in another thread up to date through a port. Returns the change counter to be read by the replica.
   */
  #serveReplica(port: MessagePort): Int32Array {
    const feed = new BlockFeed(this.engine);
    new Channel(port, { handle: (method, args) => callService(feed, method, args), errors: EVM_ERRORS });
    port.unref();
    return this.engine.readRevision;
  }

  async #answer(method: string, args: readonly unknown[]): Promise<unknown> {
    try {
      return await this.#handle(method, args);
    } finally {
      if (this.#engine) this.#executable.update(this.#engine);
      if (method === SET_HEAD) this.#executable.onHeadSet();
    }
  }

  #handle(method: string, args: readonly unknown[]): unknown {
    if (method === "open") return this.open(args[0] as EvmChainOptions);
    if (method === "connect") return this.connect(args[0] as Int32Array);
    if (method === "serveReplica") return this.#serveReplica(args[0] as MessagePort);
    if (method === "subscribe") return this.#subscribe(...(args as [number, EthSubscription]));
    if (method === "unsubscribe") return this.#subscriptions.get(args[0] as number)?.();
    const [service, name] = method.split(".") as [keyof HostServices, string];
    return callService(this.#services[service], name, args);
  }
}
