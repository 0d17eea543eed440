import { resolve } from "node:path";
import type { AccessClass } from "../../../server/access-class.ts";
import { isLoopbackHost } from "../../../server/http/access/loopback.ts";
import { usageError } from "../../exit.ts";
import type { FlagValues } from "../flag.ts";
import type { accessFlags } from "./server-flags.ts";

/** Access control of a server. */
export interface ServerAccess {
  /** Host names; "*" for all. */
  vhosts: readonly string[];
  /** Origins of web pages; "*" for all. */
  allowOrigin: readonly string[];
  /** Undefined for the default, which depends on the address. */
  api: readonly AccessClass[] | undefined;
  /** Absolute path. */
  tokenFile: string | undefined;
}

interface GivenServer extends FlagValues<ReturnType<typeof accessFlags>> {
  flagPrefix: "rpc" | "rest";
  isOn: boolean;
  address: string;
}

/** Resolves the access control. Throws if a server is reachable from other machines without an explicit decision. */
export function serverAccess(server: GivenServer, workingDirectory: string): ServerAccess {
  const { flagPrefix, isOn, address, vhosts, allowOrigin, api, tokenFile, allowAnyone } = server;
  if (isOn && !isLoopbackHost(address) && tokenFile === undefined && !allowAnyone) {
    throw usageError(
      `--${flagPrefix}-address ${address} exposes the server to other machines. Require a token with ` +
        `--${flagPrefix}-token-file FILE, allow access without one with --${flagPrefix}-allow-anyone, ` +
        "or use a loopback address such as 127.0.0.1.",
    );
  }
  return {
    vhosts,
    allowOrigin,
    api: api.length === 0 ? undefined : api,
    tokenFile: tokenFile === undefined ? undefined : resolve(workingDirectory, tokenFile),
  };
}
