import { nearestName } from "../../errors/nearest-name.ts";

/** Returns the most similar flag or key. `rpcPort`, `rpc_port` and `RPC-PORT` all match `rpc-port`. */
export function nearestFlag(written: string, candidates: Iterable<string>): string | undefined {
  const kebab = written.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replaceAll("_", "-");
  return nearestName(kebab, candidates);
}

/** Returns a suggestion such as ` Did you mean --rpc-port?`, or an empty string. */
export function didYouMean(written: string, candidates: Iterable<string>, prefix = ""): string {
  const nearest = nearestFlag(written, candidates);
  return nearest === undefined ? "" : ` Did you mean ${prefix}${nearest}?`;
}
