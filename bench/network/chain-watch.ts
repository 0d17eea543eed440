import { once } from "node:events";
import { WebSocket } from "ws";
import type { NodeProcess } from "../support/node-process.ts";

export interface SeenBlock {
  slot: number;
  root: string;
  /** Receive time in this process, in milliseconds. */
  at: number;
}

/** Records the block and head events of a node. */
export class ChainWatch {
  readonly blocks: SeenBlock[] = [];
  readonly heads: SeenBlock[] = [];
  readonly #socket: WebSocket;

  static async of({ url }: NodeProcess): Promise<ChainWatch> {
    const socket = new WebSocket(url.replace("http", "ws"));
    await once(socket, "open");
    socket.send('{"jsonrpc":"2.0","id":1,"method":"subscribe","params":[["block","head"]]}');
    await once(socket, "message");
    return new ChainWatch(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const at = performance.now();
      const { topic, data: seen } = JSON.parse(data.toString()).params;
      (topic === "head" ? this.heads : this.blocks).push({ slot: Number(seen.slot), root: seen.block, at });
    });
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, "close");
  }
}
