import type { MessagePort } from "node:worker_threads";
import { createThreadLogger, type LogMessage } from "../../log/thread-logger.ts";
import { Channel, type ChannelPort } from "../../threads/channel.ts";
import { callService, remoteService } from "../../threads/remote.ts";
import { createEvmCrypto } from "../crypto.ts";
import type { EvmStore } from "../engine/storage/evm-store.ts";
import { EthChain } from "../eth/eth-chain.ts";
import { type ReadMethods, readMethods } from "../eth/eth-methods.ts";
import { EVM_ERRORS } from "../thread/errors.ts";
import { type EvmChainOptions, openChain } from "../thread/open-chain.ts";
import { ThreadStoppedError } from "../thread/thread-stopped.ts";
import type { BlockFeed } from "./block-feed.ts";
import { EngineReplica, type ReplicaMemory } from "./engine-replica.ts";
import type { ReadName } from "./read-limits.ts";

/** A method call on a replica. */
interface Read {
  name: ReadName;
  args: unknown;
}

export interface NumberedRead extends Read {
  number: number;
}

interface ReplicatedChain {
  engine: EngineReplica;
  chain: EthChain;
  methods: ReadMethods;
  /** Connections to the replica's engine and to other threads. */
  ports: MessagePort[];
  close(): void;
}

/** Runs a read on one chain. */
export type ReadCall = (name: ReadName, args: unknown, signal?: AbortSignal) => Promise<Uint8Array>;

/** Answers calls arriving from a port by reading a chain, until the port is closed. */
export type ServeReads = (read: ReadCall, port: MessagePort) => Promise<void>;

/** A result of bytes is JSON already. */
type ReadMethod = (args: unknown, signal?: AbortSignal) => Promise<unknown>;

const encoder = new TextEncoder();

/** Runs reads for the chains of the process in a thread of their own, at one end of a channel. */
export class ReadHost {
  readonly #channel: Channel;
  readonly #serveReads: ServeReads;
  readonly #crypto = createEvmCrypto();
  readonly #chains = new Map<number, ReplicatedChain>();
  /** Reads still in progress, by number. */
  readonly #running = new Map<number, Promise<unknown>>();

  constructor(port: ChannelPort, serveReads: ServeReads) {
    this.#serveReads = serveReads;
    this.#channel = new Channel(port, {
      handle: (method, args) => callService(this, method, args),
      errors: EVM_ERRORS,
    });
  }

  /** Creates a replica of a chain whose engine is at the other end of a port. */
  async open(id: number, options: EvmChainOptions, port: MessagePort, memory: ReplicaMemory): Promise<void> {
    const store = remoteService<EvmStore>((method, args) => this.#channel.call(`store.${method}`, [id, ...args]));
    const send = (record: LogMessage) => this.#channel.notify("log", [id, record]);
    const feed = new Channel(port, { errors: EVM_ERRORS });
    port.unref();
    const engine = new EngineReplica({
      ...openChain(options, await this.#crypto),
      feed: remoteService<BlockFeed>((method, args) => feed.call(method, args)),
      memory,
      store: store as unknown as EvmStore,
      logger: createThreadLogger({ send }, "execution"),
    });
    const chain = new EthChain(engine);
    const ports = [port];
    const close = () => {
      feed.close(new ThreadStoppedError());
      for (const each of ports) each.close();
    };
    this.#chains.set(id, { engine, chain, methods: readMethods(chain), ports, close });
  }

  /** Answers calls from another thread, which arrive from a port. */
  async serve(id: number, port: MessagePort): Promise<void> {
    port.unref();
    this.#opened(id).ports.push(port);
    await this.#serveReads((name, args, signal) => this.#read(id, { name, args }, signal), port);
  }

  /** Returns the JSON of the result. */
  read(id: number, read: NumberedRead, signal: AbortSignal): Promise<Uint8Array> {
    const { number } = read;
    const running = this.#read(id, read, signal).finally(() => this.#running.delete(number));
    this.#running.set(number, running);
    return running;
  }

  /** Resolves once a read has ended, successfully or not. */
  async settled(number: number): Promise<void> {
    await this.#running.get(number)?.catch(() => {});
  }

  async #read(id: number, { name, args }: Read, signal?: AbortSignal): Promise<Uint8Array> {
    const { engine, chain, methods } = this.#opened(id);
    chain.setTags(await engine.follow());
    signal?.throwIfAborted();
    const result = await (methods[name] as ReadMethod)(args, signal);
    return result instanceof Uint8Array ? result : encoder.encode(JSON.stringify(result));
  }

  #opened(id: number): ReplicatedChain {
    const opened = this.#chains.get(id);
    if (opened === undefined) throw new ThreadStoppedError();
    return opened;
  }

  /** Drops a replica. Its pending reads fail. */
  close(id: number): void {
    this.#chains.get(id)?.close();
    this.#chains.delete(id);
  }
}
