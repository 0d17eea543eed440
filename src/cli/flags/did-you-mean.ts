import { nearestName } from "../../errors/nearest-name.ts";

/** Returns the most similar flag or key. `rpcPort`, `rpc_port` and `RPC-PORT` all match `rpc-port`. */
export function nearestFlag(name: string, candidates: Iterable<string>): string | undefined {
  const kebab = name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replaceAll("_", "-");
  return nearestName(kebab, candidates);
}

/** Returns a suggestion such as ` Did you mean --rpc-port?`, or an empty string. */
export function didYouMean(name: string, candidates: Iterable<string>, prefix = ""): string {
  const nearest = nearestFlag(name, candidates);
  return nearest === undefined ? "" : ` Did you mean ${prefix}${nearest}?`;
}
