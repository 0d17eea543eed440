import { resolve } from "node:path";
import type { AccessClass } from "../../server/access-class.ts";
import { isLoopbackHost } from "../../server/http/loopback.ts";
import { usageError } from "../exit.ts";
import type { accessFlags } from "./access-flags.ts";
import type { FlagValues } from "./flag.ts";

/** Who may use a server, and for what. */
export interface ServerAccess {
  /** Host names; "*" for all. */
  vhosts: readonly string[];
  /** Origins of web pages; "*" for all. */
  allowOrigin: readonly string[];
  /** Undefined for the default, which depends on the address. */
  api: readonly AccessClass[] | undefined;
  /** An absolute path. */
  tokenFile: string | undefined;
}

interface GivenServer extends FlagValues<ReturnType<typeof accessFlags>> {
  flagPrefix: "rpc" | "rest";
  isOn: boolean;
  address: string;
}

/** Throws for a server that other machines could call though nobody said that they may. */
export function serverAccess(server: GivenServer, workingDirectory: string): ServerAccess {
  const { flagPrefix, isOn, address, vhosts, allowOrigin, api, tokenFile, allowAnyone } = server;
  if (isOn && !isLoopbackHost(address) && tokenFile === undefined && !allowAnyone) {
    throw usageError(
      `--${flagPrefix}-address ${address} lets other machines call the node. Give --${flagPrefix}-token-file FILE, so that they need ` +
        `the token in the file; or --${flagPrefix}-allow-anyone, when something else keeps strangers away; or an address of this machine alone, such as 127.0.0.1.`,
    );
  }
  return {
    vhosts,
    allowOrigin,
    api: api.length === 0 ? undefined : api,
    tokenFile: tokenFile === undefined ? undefined : resolve(workingDirectory, tokenFile),
  };
}
