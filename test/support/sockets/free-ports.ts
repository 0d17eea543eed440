import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** Free ports for a program that needs fixed ports. All are held until all are found. */
export async function freePorts<const N extends number>(count: N): Promise<number[] & { length: N }> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports as number[] & { length: N };
}
