/**
 * Clients that read a long list over and over, all in one process. They speak HTTP on bare sockets and do nothing with
 * the bytes but count them, at the lowest priority that there is: they stand for others' machines, and take as little
 * as they can of this one.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { constants, setPriority } from "node:os";
import { parentGone, report } from "../support/child.ts";

/** What to read from now on, or nothing more, whereupon it reports. */
export type ListOrder = { port: number; body: string; clients: number } | { port: null };

export interface ListReport {
  /** Of each list. */
  millis: number[];
}

const RECEIVED_AT_ONCE = 1024 * 1024;
/** Of an answer in chunks. */
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
// Whatever it waits for is of no use to anybody any more.
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

/** Over a connection of its own, which ends with the answer. */
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
  if (!tail.equals(END)) throw new Error("A list broke off.");
}
