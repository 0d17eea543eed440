import { EventEmitter } from "node:events";
import { MessageChannel } from "node:worker_threads";
import type { EvmEngine } from "../../../../src/evm/engine/evm-engine.ts";
import { EvmHost } from "../../../../src/evm/thread/evm-host.ts";
import type { ThreadPort } from "../../../../src/threads/thread.ts";
import type { Movable } from "../../../../src/threads/transfer.ts";

/** Runs the EVM in the thread of the test, at the other end of a message channel. The test can look at its engine. */
export class SameThreadEvm {
  #host: EvmHost | undefined;

  get engine(): EvmEngine {
    return this.#host!.engine;
  }

  readonly startWorker = (): ThreadPort => {
    const { port1, port2 } = new MessageChannel();
    this.#host = new EvmHost(port2);
    port2.unref();
    const worker = new EventEmitter();
    port1.on("message", (message) => worker.emit("message", message));
    port1.unref();
    return Object.assign(worker, {
      postMessage: (message: unknown, moved?: readonly Movable[]) => port1.postMessage(message, moved),
      ref: () => port1.ref(),
      unref: () => port1.unref(),
      terminate: async () => port1.close(),
    });
  };
}
