/** Forwards raw bytes between two ports: the lower bound of what any proxy costs on this machine. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { parentGone, report } from "../support/child.ts";

export interface BareProxyOrder {
  /** Port to forward connections to. */
  port: number;
}

export interface BareProxyReport {
  /** Port that accepts connections. */
  port: number;
}

process.on("message", ({ port }: BareProxyOrder) => {
  void open(port).then(report);
});
report({ ready: true });
await parentGone();
process.exit();

async function open(port: number): Promise<BareProxyReport> {
  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ port, host: "127.0.0.1", noDelay: true });
    client.pipe(target).pipe(client);
    client.on("error", () => target.destroy());
    target.on("error", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port };
}
