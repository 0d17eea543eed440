import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/**
 * Returns the port if it is available, or a free one for port 0. Rejects with the system error otherwise. Workers share
 * the port by number, so that a replacement can listen on it again.
 */
export async function findFreePort({ host, port }: { host: string; port: number }): Promise<number> {
  const { address } = await lookup(host);
  const server = createServer();
  server.listen({ host: address, port });
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return bound;
}
