/**
 * Clients that read a long list repeatedly. They would be on other machines, so they use as little CPU time as
 * possible: raw sockets, no parsing, lowest priority.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { constants, setPriority } from "node:os";
import { parentGone, report } from "../support/child.ts";

/** Starts reading, or stops and reports if `port` is null. */
export type ListOrder = { port: number; body: string; clients: number } | { port: null };

export interface ListReport {
  /** Duration of each read. */
  millis: number[];
}

const RECEIVED_AT_ONCE = 1024 * 1024;
/** Last chunk of a chunked response. */
const END = Buffer.from("0\r\n\r\n");

let stop = (): Promise<ListReport> => Promise.resolve({ millis: [] });

process.on("message", (order: ListOrder) => {
  if (order.port === null) {
    void stop().then(report);
    return;
  }
  stop = readOverAndOver(order.port, order.body, order.clients);
  report({ started: true });
});
setPriority(constants.priority.PRIORITY_LOW);
report({ ready: true });
await parentGone();
// Aborts pending reads.
process.exit();

function readOverAndOver(port: number, body: string, clients: number): () => Promise<ListReport> {
  let isStopped = false;
  const millis: number[] = [];
  const client = async () => {
    while (!isStopped) {
      const began = performance.now();
      await read(port, body);
      millis.push(performance.now() - began);
    }
  };
  const done = Promise.all(Array.from({ length: clients }, client));
  return async () => {
    isStopped = true;
    await done;
    return { millis };
  };
}

/** Reads the list once on a new connection. */
async function read(port: number, body: string): Promise<void> {
  let tail = Buffer.alloc(0);
  const callback = (count: number, bytes: Uint8Array): boolean => {
    tail = Buffer.concat([tail, bytes.subarray(Math.max(0, count - END.length), count)]).subarray(-END.length);
    return true;
  };
  const socket = connect({ port, host: "127.0.0.1", onread: { buffer: Buffer.alloc(RECEIVED_AT_ONCE), callback } });
  const head = ["POST / HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", "Connection: close"];
  socket.write([...head, `Content-Length: ${Buffer.byteLength(body)}`, "", body].join("\r\n"));
  await once(socket, "close");
  if (!tail.equals(END)) throw new Error("A list was truncated.");
}
