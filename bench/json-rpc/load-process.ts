/**
 * Load generator: keeps one request in flight per connection. It sends a prebuilt request on raw sockets, because a
 * full HTTP client needs more CPU time than the servers under test. Only the digits of `VARIED` are replaced.
 */
import { connect, type Socket } from "node:net";
import { parentGone, report } from "../support/child.ts";
import { VARIED } from "./requests.ts";

export interface LoadOrder {
  port: number;
  /** Path of a GET request. Undefined to POST the body. */
  path?: string | undefined;
  body: string;
  responseBytes?: number | undefined;
  connections: number;
  seconds: number;
}

export interface LoadReport {
  requests: number;
  seconds: number;
}

/** Number of requests with varied digits so far. */
let varied = 0;

process.on("message", (order: LoadOrder) => {
  void load(order).then(report);
});
report({ ready: true });
await parentGone();

async function load({ port, path, body, responseBytes, connections, seconds }: LoadOrder): Promise<LoadReport> {
  const post = ["POST / HTTP/1.1", "Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`];
  const head = [...(path === undefined ? post : [`GET ${path} HTTP/1.1`]), `Host: 127.0.0.1:${port}`];
  const request = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
  const variedAt = request.indexOf(VARIED);
  const nextRequest = () => {
    if (variedAt < 0) return request;
    // The socket may still hold the previous one.
    const next = Buffer.from(request);
    next.write((varied++).toString(16).padStart(VARIED.length, "0"), variedAt, "latin1");
    return next;
  };
  const start = performance.now();
  const end = start + seconds * 1000;
  const counts = await Promise.all(
    Array.from({ length: connections }, () => repeat(port, nextRequest, end, responseBytes)),
  );
  return { requests: counts.reduce((sum, count) => sum + count, 0), seconds: (performance.now() - start) / 1000 };
}

function repeat(
  port: number,
  nextRequest: () => Buffer,
  end: number,
  responseBytes: number | undefined,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let count = 0;
  /** Remaining bytes of the response, once its headers are complete. */
  let missing: number | undefined;
  let seen = "";
  const socket: Socket = connect(port, "127.0.0.1", () => socket.write(nextRequest()));
  socket.setNoDelay(true);
  socket.on("error", reject);
  socket.on("close", () => reject(new Error("The server closed the connection.")));
  socket.on("data", (chunk: Buffer) => {
    if (missing === undefined) {
      seen += chunk.toString("latin1");
      const headEnd = seen.indexOf("\r\n\r\n");
      if (headEnd < 0) return;
      if (!seen.startsWith("HTTP/1.1 200 ")) return reject(new Error(`The server answered: ${seen.slice(0, headEnd)}`));
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(seen)?.[1]);
      if (length !== (responseBytes ?? length)) return reject(new Error(`The server answered: ${seen}`));
      missing = headEnd + 4 + length - seen.length;
      seen = "";
    } else {
      missing -= chunk.length;
    }
    if (missing > 0) return;
    missing = undefined;
    count++;
    if (performance.now() < end) {
      socket.write(nextRequest());
    } else {
      socket.destroy();
      resolve(count);
    }
  });
  return promise;
}
