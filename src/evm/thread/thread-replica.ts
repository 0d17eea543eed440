import type { JsonBytes } from "../../json/json-bytes.ts";
import type { Logger } from "../../log/logger.ts";
import type { EvmServices } from "../engine/evm-engine.ts";
import type { SharedTags } from "../eth/shared-tags.ts";
import type { ReadName } from "../reads/read-limits.ts";
import type { ReadableChain, ReadConnection, ReadThread } from "../reads/read-thread.ts";
import type { EvmChainOptions } from "./open-chain.ts";
import type { SupervisedWorker } from "./supervised-worker.ts";

interface ThreadReplicaParts {
  reads: ReadThread;
  worker: SupervisedWorker;
  logger: Logger;
  /** Called once the thread is ready. */
  chain(): { options: EvmChainOptions; store: EvmServices["store"] };
  /** Shared memory of the tags seen by the replica. */
  tags: SharedTags["memory"];
}

/** Replica of the EVM thread's engine in the read thread. */
export class ThreadReplica {
  readonly #parts: ThreadReplicaParts;
  /** The engine of the current thread. */
  #readable: ReadableChain | undefined;
  #onConnection: ((connection: ReadConnection) => void) | undefined;

  constructor(parts: ThreadReplicaParts) {
    this.#parts = parts;
  }

  /** Calls a method of the replica. */
  read(name: ReadName, args: unknown, signal?: AbortSignal): Promise<JsonBytes> {
    return this.#parts.reads.read(() => this.#replicable(), { name, args }, signal);
  }

  /** Drops the replica of a stopped engine. */
  forget(): void {
    if (this.#readable) this.#parts.reads.forget(this.#readable);
    this.#readable = undefined;
  }

  /** Calls the listener with each connection to the replica. */
  onConnection(listener: (connection: ReadConnection) => void): void {
    this.#onConnection = listener;
  }

  /** Returns the current engine for replication, once it is ready. */
  async #replicable(): Promise<ReadableChain> {
    const { worker, logger, tags } = this.#parts;
    await worker.ready;
    this.#readable ??= {
      ...this.#parts.chain(),
      logger,
      connect: async (port) => ({ revision: (await worker.call("serveReplica", [port])) as Int32Array, tags }),
      connectionListener: () => this.#onConnection,
    };
    return this.#readable;
  }
}
