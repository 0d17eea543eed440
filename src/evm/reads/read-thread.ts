import { MessageChannel, type MessagePort } from "node:worker_threads";
import { JsonBytes } from "../../json/json-bytes.ts";
import type { Logger } from "../../log/logger.ts";
import { type LogMessage, writeRecord } from "../../log/thread-logger.ts";
import { callService } from "../../threads/remote.ts";
import { Thread, type ThreadPort } from "../../threads/thread.ts";
import type { EvmStore } from "../engine/storage/evm-store.ts";
import { EthError } from "../eth/eth-error.ts";
import { EVM_ERRORS } from "../thread/errors.ts";
import type { EvmChainOptions } from "../thread/open-chain.ts";
import { ThreadStoppedError } from "../thread/thread-stopped.ts";
import type { ReplicaMemory } from "./engine-replica.ts";
import { type ReadName, readLimit } from "./read-limits.ts";

/** A chain whose engine runs in another thread. A new engine counts as another chain. */
export interface ReadableChain {
  options: EvmChainOptions;
  store: EvmStore;
  logger: Logger;
  /** Lets the engine keep a replica up to date through a port. Returns the memory shared with the replica. */
  connect(port: MessagePort): Promise<ReplicaMemory>;
  /**
   * Returns the listener that receives a connection to the replica after its first read. The connection is closed
   * together with the replica.
   */
  connectionListener(): ((connection: ReadConnection) => void) | undefined;
}

/** A port through which a third thread can call methods on a replica. */
export interface ReadConnection {
  port: MessagePort;
  /** Replaces the thread because a call to the method did not end within the grace period. */
  replace(method: string): void;
}

/** A method call. */
export interface Read {
  name: ReadName;
  args: unknown;
}

interface ReadThreadOptions {
  startWorker(): ThreadPort;
  readLimit?: (name: ReadName) => number;
  graceMs?: number;
}

interface Session {
  thread: Thread;
  /** Ids of open chains. */
  opened: Map<ReadableChain, Promise<number>>;
  /** Ids of chains with a connection to a third thread. */
  connected: Set<number>;
  hasCrashed: boolean;
}

/** Time within which an aborted read must end. */
export const GRACE_MS = 1000;
/** Time after which a thread without chains ends. */
const IDLE_MS = 10_000;
/** A read fails after this many thread crashes. Replacements of the thread because of other reads do not count. */
const MAX_CRASHES = 3;

/**
 * Thread for reads that execute code or search the chain, so that they do not delay blocks. Started on demand. A read
 * is aborted at its time limit or by its caller. If an aborted read keeps running, the thread is replaced and all other
 * reads are repeated.
 */
export class ReadThread {
  readonly #startWorker: () => ThreadPort;
  readonly #readLimit: (name: ReadName) => number;
  readonly #graceMs: number;
  #session: Session | undefined;
  readonly #chains = new Map<number, ReadableChain>();
  #lastId = 0;
  #lastRead = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: ReadThreadOptions) {
    this.#startWorker = options.startWorker;
    this.#readLimit = options.readLimit ?? readLimit;
    this.#graceMs = options.graceMs ?? GRACE_MS;
  }

  /** Starts the thread early, so that it loads its modules while this thread loads its own. */
  preload(): void {
    if (this.#session !== undefined) return;
    this.#session = this.#start();
    this.#endIfUnused(this.#session);
  }

  /** Calls a method on a replica of the current engine. The replica has all changes acknowledged before the call. */
  async read(engine: () => Promise<ReadableChain>, read: Read, signal?: AbortSignal): Promise<JsonBytes> {
    const limit = this.#readLimit(read.name);
    const timeout = new AbortController();
    const ends = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal;
    let timer: NodeJS.Timeout | undefined;
    try {
      for (let crashes = 0; ; ) {
        const chain = await engine();
        ends.throwIfAborted();
        this.#session ??= this.#start();
        const session = this.#session;
        try {
          const id = await this.#open(session, chain);
          // The time limit does not include the thread's first start, but it does include replacements, because callers
          // wait no longer than the limit.
          timer ??= setTimeout(() => timeout.abort(timeoutError(limit)), limit);
          const json = await this.#readOn(session, id, chain, read, ends);
          void this.#connect(session, id, chain);
          return json;
        } catch (error) {
          if (!(error instanceof ThreadStoppedError)) throw error;
          if (session.hasCrashed && ++crashes === MAX_CRASHES) throw error;
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Drops the replica of a stopped engine. */
  forget(chain: ReadableChain): void {
    const session = this.#session;
    const opened = session?.opened.get(chain);
    if (session === undefined || opened === undefined) return;
    session.opened.delete(chain);
    opened.then((id) => session.thread.channel.notify("close", [id])).catch(() => {});
    if (session.opened.size === 0) this.#endIfUnused(session);
  }

  /** Ends the thread. */
  async stop(): Promise<void> {
    if (this.#session) await this.#end(this.#session);
  }

  #start(): Session {
    const thread = new Thread(this.#startWorker(), {
      handle: (method, args) => this.#handle(method, args),
      errors: EVM_ERRORS,
      onDeath: (_, error) => this.#onDeath(session, error),
    });
    const session: Session = { thread, opened: new Map(), connected: new Set(), hasCrashed: false };
    return session;
  }

  #open(session: Session, chain: ReadableChain): Promise<number> {
    clearTimeout(this.#idle);
    let opened = session.opened.get(chain);
    if (opened === undefined) {
      opened = this.#replicate(session, chain);
      session.opened.set(chain, opened);
      opened.catch(() => session.opened.delete(chain));
    }
    return opened;
  }

  async #replicate({ thread }: Session, chain: ReadableChain): Promise<number> {
    const id = ++this.#lastId;
    const { port1, port2 } = new MessageChannel();
    const memory = await chain.connect(port1);
    this.#chains.set(id, chain);
    await thread.channel.call("open", [id, chain.options, port2, memory]);
    return id;
  }

  async #connect(session: Session, id: number, chain: ReadableChain): Promise<void> {
    const listener = chain.connectionListener();
    if (listener === undefined || session.connected.has(id)) return;
    session.connected.add(id);
    const { port1, port2 } = new MessageChannel();
    try {
      await session.thread.channel.call("serve", [id, port2]);
    } catch {
      // The replica has ended. The next replica gets its own connection.
      port1.close();
      return;
    }
    listener({ port: port1, replace: (method) => this.#replace(session, chain, method) });
  }

  async #readOn(session: Session, id: number, chain: ReadableChain, read: Read, signal: AbortSignal) {
    const number = ++this.#lastRead;
    const awaitEnd = () => void this.#awaitEnd(session, number, () => this.#replace(session, chain, read.name));
    signal.addEventListener("abort", awaitEnd, { once: true });
    try {
      return new JsonBytes(
        (await session.thread.channel.call("read", [id, { number, ...read }, signal])) as Uint8Array,
      );
    } finally {
      signal.removeEventListener("abort", awaitEnd);
    }
  }

  /** Replaces the thread if an aborted read does not end in time. */
  async #awaitEnd(session: Session, read: number, replace: () => void): Promise<void> {
    const timer = setTimeout(replace, this.#graceMs);
    await session.thread.channel.call("settled", [read]).catch(() => {});
    clearTimeout(timer);
  }

  #replace(session: Session, chain: ReadableChain, method: string): void {
    if (session !== this.#session) return;
    chain.logger.warn("Read could not be stopped, replacing the thread for reads", { method });
    void this.#end(session);
  }

  #onDeath(session: Session, error: unknown): void {
    if (session !== this.#session) return;
    session.hasCrashed = true;
    const [chain] = session.opened.keys();
    chain?.logger.warn("Thread for reads stopped, restarting", { error });
    void this.#end(session);
  }

  #endIfUnused(session: Session): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#end(session), IDLE_MS).unref();
  }

  /** Ends a thread. Pending reads are repeated on the next thread. */
  async #end(session: Session): Promise<void> {
    if (session === this.#session) this.#session = undefined;
    for (const opened of session.opened.values()) opened.then((id) => this.#chains.delete(id)).catch(() => {});
    await session.thread.end(new ThreadStoppedError());
  }

  /** Handles a call from the thread to a chain's log or database. */
  #handle(method: string, [id, ...args]: readonly unknown[]): unknown {
    const chain = this.#chains.get(id as number);
    if (chain === undefined) throw new ThreadStoppedError();
    if (method === "log") return writeRecord(chain.logger, args[0] as LogMessage);
    return callService(chain.store, method.slice("store.".length), args);
  }
}

/** The same error for all reads, as returned by geth for calls. */
export const timeoutError = (limitMs: number) => new EthError(`execution aborted (timeout = ${limitMs / 1000}s)`);
