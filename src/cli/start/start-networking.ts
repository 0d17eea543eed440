import type { Logger } from "../../log/logger.ts";
import type { NetworkingOptions } from "../../network/networking-options.ts";
import type { Networking } from "../../sync/networking.ts";
import { StartupError } from "../exit.ts";

/** Lets other nodes in, and says where they find this one. */
export async function startNetworking(
  networking: Networking,
  options: NetworkingOptions,
  logger: Logger,
): Promise<void> {
  try {
    await networking.start();
  } catch (error) {
    throw listenError(error, options) ?? error;
  }
  const { p2p, enr } = networking.listening;
  for (const address of p2p) logger.notice(`Peers are welcome at ${address}`);
  logger.info(`The node's record is ${enr}`);
}

/** A node that knows nobody may wait for long until it is found. */
export function warnWithoutPeers({ bootnodes, directPeers, discovery }: NetworkingOptions, logger: Logger): void {
  if (directPeers.length > 0 || (discovery && bootnodes.length > 0)) return;
  const unused = bootnodes.length > 0 ? " Without discovery bootnodes are of no use." : "";
  logger.warn(`No other node is known, so this one waits to be found: give --bootnodes or --peer.${unused}`);
}

const LISTEN_CODES = ["EADDRINUSE", "EADDRNOTAVAIL", "EACCES"] as const;

function listenError(error: unknown, { address, port }: NetworkingOptions): StartupError | undefined {
  const code = LISTEN_CODES.find((candidate) => mentions(error, candidate));
  if (code === undefined) return undefined;
  if (code === "EADDRINUSE") {
    const message = `Port ${port} of ${address} is in use by another process; stop that one, or give another --p2p-port.`;
    return new StartupError("listen", message, error);
  }
  const message = `The node cannot listen for others on ${address}, port ${port}: ${code}; give another --p2p-address or --p2p-port.`;
  return new StartupError("listen", message, error);
}

/** The library wraps what the system said, as a cause, as one of several errors, or in words. */
function mentions(error: unknown, code: string): boolean {
  if (!(error instanceof Error)) return false;
  if (("code" in error && error.code === code) || error.message.includes(code)) return true;
  const inner = error instanceof AggregateError ? error.errors : [];
  return [error.cause, ...inner].some((each) => each !== error && mentions(each, code));
}
