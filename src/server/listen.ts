import type { Logger } from "../log/logger.ts";
import type { HttpServer, ListeningAddress } from "./http/server.ts";

const MAX_TRIED_PORTS = 100;

interface Wanted {
  host: string;
  /** The port, or 0 for any free port. */
  port: number;
  /** Try the following ports if the port is in use. */
  triesNextPorts?: boolean;
}

/** Listens on the port, or on the next free one if `triesNextPorts` is set. Rejects with the system error. */
export async function listenOnFreePort(
  server: Pick<HttpServer, "listen">,
  { host, port, triesNextPorts = false }: Wanted,
  logger: Logger,
): Promise<ListeningAddress> {
  const last = triesNextPorts ? Math.min(port + MAX_TRIED_PORTS, 65535) : port;
  for (let candidate = port; ; candidate++) {
    try {
      const listening = await server.listen({ host, port: candidate });
      if (candidate > port) logger.warn("Port in use, using the next free one", { port, free: candidate });
      return listening;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || candidate === last) throw error;
    }
  }
}
