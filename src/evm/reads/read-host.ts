import type { MessagePort } from "node:worker_threads";
import { createThreadLogger, type LogMessage } from "../../log/thread-logger.ts";
import { Channel, type ChannelPort } from "../../threads/channel.ts";
import { callService, remoteService } from "../../threads/remote.ts";
import { createEvmCrypto } from "../crypto.ts";
import type { EvmStore } from "../engine/storage/evm-store.ts";
import type { ChainTags } from "../eth/block-id.ts";
import { EthChain } from "../eth/eth-chain.ts";
import { type ReadMethods, readMethods } from "../eth/eth-methods.ts";
import { EVM_ERRORS } from "../thread/errors.ts";
import { type EvmChainOptions, openChain } from "../thread/open-chain.ts";
import { ThreadStoppedError } from "../thread/thread-stopped.ts";
import type { BlockFeed } from "./block-feed.ts";
import { EngineReplica } from "./engine-replica.ts";
import type { ReadName } from "./read-limits.ts";

/** A call of a method on a replica. Later reads have higher numbers. */
export interface NumberedRead {
  number: number;
  name: ReadName;
  args: unknown;
  tags: ChainTags;
}

interface ReplicatedChain {
  engine: EngineReplica;
  chain: EthChain;
  methods: ReadMethods;
  /** Number of the last read whose tags were set. */
  tagged: number;
  close(): void;
}

type ReadMethod = (args: unknown, signal?: AbortSignal) => Promise<unknown>;

const encoder = new TextEncoder();

/** Reads the chains of the process in a thread of their own, at one end of a channel. */
export class ReadHost {
  readonly #channel: Channel;
  readonly #crypto = createEvmCrypto();
  readonly #chains = new Map<number, ReplicatedChain>();
  /** Reads that have not ended, by number. */
  readonly #running = new Map<number, Promise<unknown>>();

  constructor(port: ChannelPort) {
    this.#channel = new Channel(port, {
      handle: (method, args) => callService(this, method, args),
      errors: EVM_ERRORS,
    });
  }

  /** Creates a replica of a chain, whose engine is at the other end of a port. */
  async open(id: number, options: EvmChainOptions, port: MessagePort, revision: Int32Array): Promise<void> {
    const store = remoteService<EvmStore>((method, args) => this.#channel.call(`store.${method}`, [id, ...args]));
    const send = (record: LogMessage) => this.#channel.notify("log", [id, record]);
    const feed = new Channel(port, { errors: EVM_ERRORS });
    port.unref();
    const engine = new EngineReplica({
      ...openChain(options, await this.#crypto),
      feed: remoteService<BlockFeed>((method, args) => feed.call(method, args)),
      revision,
      store: store as unknown as EvmStore,
      logger: createThreadLogger({ send }, "execution"),
    });
    const chain = new EthChain(engine);
    const close = () => {
      feed.close(new ThreadStoppedError());
      port.close();
    };
    this.#chains.set(id, { engine, chain, methods: readMethods(chain), tagged: 0, close });
  }

  /** Returns the JSON of the result. */
  read(id: number, read: NumberedRead, signal: AbortSignal): Promise<Uint8Array> {
    const { number } = read;
    const running = this.#read(id, read, signal).finally(() => this.#running.delete(number));
    this.#running.set(number, running);
    return running;
  }

  /** Resolves once a read has ended, however it did. */
  async settled(number: number): Promise<void> {
    await this.#running.get(number)?.catch(() => {});
  }

  async #read(id: number, { number, name, args, tags }: NumberedRead, signal: AbortSignal): Promise<Uint8Array> {
    const open = this.#chains.get(id);
    if (open === undefined) throw new ThreadStoppedError();
    await open.engine.follow(tags.latest);
    if (number > open.tagged) {
      open.tagged = number;
      open.chain.setTags(tags);
    }
    signal.throwIfAborted();
    return encoder.encode(JSON.stringify(await (open.methods[name] as ReadMethod)(args, signal)));
  }

  /** Drops a replica. Its reads fail. */
  close(id: number): void {
    this.#chains.get(id)?.close();
    this.#chains.delete(id);
  }
}
