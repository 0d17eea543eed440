import { isIP, isIPv4, isIPv6 } from "node:net";
import { FlagValueError, nonEmpty } from "../flag-values.ts";

// Checks only the syntax, because the libraries that verify ids and signatures are slow to load.

/** ENR of at most 300 bytes (EIP-778) in base64url. */
const RECORD_TEXT = /^enr:[\w-]{1,400}$/;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i;

export const isRecordText = (text: string): boolean => RECORD_TEXT.test(text);

export function ipAddress(text: string): string {
  if (isIP(text) === 0) throw new FlagValueError("it must be an IP address to listen on, such as 0.0.0.0");
  return text;
}

/** Parses an ENR or the name of a file containing ENRs. */
export function bootnode(text: string): string {
  if (text.startsWith("enr:") && !isRecordText(text)) {
    throw new FlagValueError("it must be a record such as enr:-… (letters, digits, - and _) or a file with records");
  }
  return nonEmpty("a record such as enr:-… or a file with records")(text);
}

const HOST_CHECKS: Readonly<Record<string, (host: string) => boolean>> = {
  ip4: isIPv4,
  ip6: isIPv6,
  dns: (host) => HOST_NAME.test(host),
  dns4: (host) => HOST_NAME.test(host),
  dns6: (host) => HOST_NAME.test(host),
};

/** Parses a TCP multiaddr with a peer id. */
export function peerAddress(text: string): string {
  const [before, hostKind = "", host = "", tcp, port = "", p2p, id = "", ...rest] = text.split("/");
  const isHost = Object.hasOwn(HOST_CHECKS, hostKind) && HOST_CHECKS[hostKind]!(host);
  const isPort = /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65535;
  const isId = /^[a-z0-9]{20,100}$/i.test(id);
  if (before === "" && isHost && tcp === "tcp" && isPort && p2p === "p2p" && isId && rest.length === 0) return text;
  throw new FlagValueError(
    "it must be an address with the peer's id, such as /ip4/192.0.2.1/tcp/9000/p2p/16Uiu2H…; ip6 and dns are allowed",
  );
}
