import { isIP } from "node:net";
import { SettingError } from "../setting-error.ts";

interface Listening {
  flagPrefix: string;
  isOn: boolean;
  address: string;
  /** 0 for any free port. */
  port: number;
}

/** Throws if two servers would listen on the same port. */
export function requireDistinctPorts(servers: readonly Listening[]): void {
  const fixed = servers.filter(({ isOn, port }) => isOn && port !== 0);
  for (const [index, one] of fixed.entries()) {
    const other = fixed.slice(index + 1).find((later) => later.port === one.port && meet(later.address, one.address));
    if (!other) continue;
    const flag = `${one.flagPrefix}-port`;
    throw new SettingError(flag, (nameOf) => {
      const names = `${nameOf(flag)} and ${nameOf(`${other.flagPrefix}-port`)}`;
      return `${names} both use port ${one.port} of ${one.address}. Give each a different port`;
    });
  }
}

const meet = (a: string, b: string) => covers(a, b) || covers(b, a);

/** True if listening on the first address also covers the second. */
function covers(address: string, other: string): boolean {
  return address === other || address === "::" || (address === "0.0.0.0" && isIP(other) === 4);
}
