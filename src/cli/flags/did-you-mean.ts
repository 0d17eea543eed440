import { nearestName } from "../../errors/nearest-name.ts";

/** The flag or key that was probably meant; `rpcPort`, `rpc_port` and `RPC-PORT` are all spellings of `rpc-port`. */
export function nearestFlag(written: string, candidates: Iterable<string>): string | undefined {
  const kebab = written.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replaceAll("_", "-");
  return nearestName(kebab, candidates);
}

/** A closing sentence such as ` Did you mean --rpc-port?`, or nothing. */
export function didYouMean(written: string, candidates: Iterable<string>, prefix = ""): string {
  const nearest = nearestFlag(written, candidates);
  return nearest === undefined ? "" : ` Did you mean ${prefix}${nearest}?`;
}
