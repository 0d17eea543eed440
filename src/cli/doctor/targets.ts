import type { UpstreamOptions } from "../../gateway/options.ts";
import { usageError } from "../exit.ts";
import { FlagValueError, withoutCredentials } from "../flags/flag-values.ts";
import { requireDistinct, upstreamOptions } from "../flags/gateway-options.ts";
import { upstream, type WrittenUpstream } from "../flags/upstream-value.ts";

interface TargetOptions {
  /** For those that have no credentials of their own. */
  tokenFile: string | undefined;
  workingDirectory: string;
}

/** The upstreams to look at, as --upstream of a gateway has them. */
export function readTargets(
  written: readonly string[],
  { tokenFile, workingDirectory }: TargetOptions,
): UpstreamOptions[] {
  if (written.length === 0) {
    throw usageError("A URL is missing: give the REST API of a beacon node, as in fanal doctor http://127.0.0.1:5052.");
  }
  const targets = written.map(readTarget);
  requireDistinct(targets);
  return targets.map((target) => {
    const hasCredentials = target.authorization !== undefined || target.tokenFile !== undefined;
    return upstreamOptions(hasCredentials ? target : { ...target, tokenFile }, workingDirectory);
  });
}

function readTarget(text: string): WrittenUpstream {
  try {
    return upstream(text);
  } catch (error) {
    if (!(error instanceof FlagValueError)) throw error;
    throw usageError(`The URL "${withoutCredentials(text)}" is not accepted: ${error.message}.`, error);
  }
}
