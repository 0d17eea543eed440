import type { MessagePort } from "node:worker_threads";
import { Lane, type LaneLoad } from "../../lane.ts";
import type { Cancellation } from "../../method-table.ts";
import { DirectConnection, type DirectResult } from "./direct-connection.ts";
import type { DirectMethod, DirectMethods } from "./method-thread.ts";

/** A call whose parameters are JSON. */
export interface DirectCall {
  method: string;
  params: string;
  isIrregular: boolean | undefined;
}

/** Calls methods in a third thread while a connection to it is open. */
export class DirectCalls {
  readonly #methods: ReadonlyMap<string, DirectMethod>;
  readonly #lane: Lane;
  readonly #graceMs: number;
  #connection: DirectConnection | undefined;

  constructor({ methods, lane, graceMs }: DirectMethods) {
    this.#methods = new Map(methods.map((method) => [method.name, method]));
    this.#lane = new Lane(lane);
    this.#graceMs = graceMs;
  }

  get load(): LaneLoad {
    return this.#lane.load;
  }

  /** Sends calls through a port from now on. `onStuck` is called if a cancelled call does not end. */
  connect(port: MessagePort, onStuck: (method: string) => void): void {
    const connection = new DirectConnection(port, {
      graceMs: this.#graceMs,
      onStuck,
      onClose: () => {
        if (this.#connection === connection) this.#connection = undefined;
      },
    });
    this.#connection = connection;
  }

  /** Returns true if calls of a method are currently made in the third thread. */
  accepts(name: string): boolean {
    const method = this.#connection && this.#methods.get(name);
    return method !== undefined && (!method.isShort || this.#lane.isIdle);
  }

  /** Returns undefined if the thread is not connected or the connection closes before the answer arrives. */
  call(
    { method, params, isIrregular }: DirectCall,
    cancellation: Cancellation | undefined,
  ): Promise<DirectResult | undefined> {
    const called = this.#methods.get(method)!;
    const call = async () => this.#connection?.call(called, params, isIrregular, cancellation);
    return called.isShort ? call() : this.#lane.run(cancellation, call);
  }
}
