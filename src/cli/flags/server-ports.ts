import { isIP } from "node:net";
import { usageError } from "../exit.ts";

interface Listening {
  flagPrefix: string;
  isOn: boolean;
  address: string;
  /** 0 for any free port. */
  port: number;
}

/** Throws for servers that would take each other's port. */
export function requireOwnPorts(servers: readonly Listening[]): void {
  const fixed = servers.filter(({ isOn, port }) => isOn && port !== 0);
  for (const [index, one] of fixed.entries()) {
    const other = fixed.slice(index + 1).find((later) => later.port === one.port && meet(later.address, one.address));
    if (!other) continue;
    throw usageError(
      `--${one.flagPrefix}-port and --${other.flagPrefix}-port both name port ${one.port} of ${one.address}; give each a port of its own.`,
    );
  }
}

const meet = (a: string, b: string) => covers(a, b) || covers(b, a);

/** Whether whoever listens on the first address listens on the second one, too. */
function covers(address: string, other: string): boolean {
  return address === other || address === "::" || (address === "0.0.0.0" && isIP(other) === 4);
}
