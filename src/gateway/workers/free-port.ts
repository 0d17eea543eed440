import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/**
 * The port itself if it can be listened on, any free one for 0; rejects with the system's error otherwise. Workers share a port that
 * they all know by its number, so that one that comes later finds it again.
 */
export async function freePort({ host, port }: { host: string; port: number }): Promise<number> {
  const { address } = await lookup(host);
  const server = createServer();
  server.listen({ host: address, port });
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return bound;
}
