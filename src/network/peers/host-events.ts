import type { Connection, IdentifyResult, PeerId } from "@libp2p/interface";
import type { Host } from "../libp2p/host.ts";

export interface HostFollower {
  opened(connection: Connection): void;
  /** The last connection with the peer is gone. */
  disconnected(peerId: string): void;
  identified(result: IdentifyResult): void;
}

/** Tells what happens to the host's connections. Returns the function that ends it. */
export function followHost(
  host: Pick<Host, "addEventListener" | "removeEventListener">,
  { opened, disconnected, identified }: HostFollower,
): () => void {
  const onOpen = ({ detail }: CustomEvent<Connection>) => opened(detail);
  const onDisconnect = ({ detail }: CustomEvent<PeerId>) => disconnected(detail.toString());
  const onIdentify = ({ detail }: CustomEvent<IdentifyResult>) => identified(detail);
  host.addEventListener("connection:open", onOpen);
  host.addEventListener("peer:disconnect", onDisconnect);
  host.addEventListener("peer:identify", onIdentify);
  return () => {
    host.removeEventListener("connection:open", onOpen);
    host.removeEventListener("peer:disconnect", onDisconnect);
    host.removeEventListener("peer:identify", onIdentify);
  };
}
