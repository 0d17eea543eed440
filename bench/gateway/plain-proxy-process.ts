/**
 * Minimal JSON-RPC to REST proxy on `node:http`: one method, keep-alive upstream connections, no validation. Returns
 * the upstream's `data` as the result.
 */
import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parentGone, report } from "../support/child.ts";

export interface PlainProxyOrder {
  /** Port of the REST server. Omitted to read the CPU usage. */
  port?: number;
}

export interface PlainProxyReport {
  /** Port of the proxy. */
  port: number;
  /** CPU time since the start of the process. */
  cpuSeconds: number;
}

const DATA = '"data":';
const agent = new Agent({ keepAlive: true });
let listening = 0;

process.on("message", async ({ port }: PlainProxyOrder) => {
  if (port !== undefined) listening = await open(port);
  const { user, system } = process.cpuUsage();
  report({ port: listening, cpuSeconds: (user + system) / 1e6 } satisfies PlainProxyReport);
});
report({ ready: true });
await parentGone();
process.exit();

async function open(port: number): Promise<number> {
  const server = createServer((req, res) => {
    void bodyOf(req).then((body) => {
      const { params } = JSON.parse(body.toString()) as { params: [string, string] };
      const path = `/eth/v1/beacon/states/${params[0]}/validators/${params[1]}`;
      get({ host: "127.0.0.1", port, path, agent }, (answer) => void bodyOf(answer).then((text) => pass(text, res)));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  message.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(message, "end");
  return Buffer.concat(chunks);
}

function pass(text: Buffer, res: ServerResponse): void {
  const data = text.subarray(text.indexOf(DATA) + DATA.length, -1);
  const body = Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"result":'), data, Buffer.from("}")]);
  res.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length }).end(body);
}
