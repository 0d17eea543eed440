import type { UpstreamSettings } from "../../gateway/settings.ts";
import { usageError } from "../exit.ts";
import { FlagValueError, withoutCredentials } from "../flags/flag-values.ts";
import { requireDistinct, upstreamSettings } from "../flags/gateway/gateway-settings.ts";
import { type ParsedUpstream, upstream } from "../flags/gateway/upstream-value.ts";

interface TargetOptions {
  /** Default for upstreams without credentials. */
  tokenFile: string | undefined;
  workingDirectory: string;
}

/** Parses the upstreams to examine, in the format of --upstream. */
export function readTargets(
  upstreams: readonly string[],
  { tokenFile, workingDirectory }: TargetOptions,
): UpstreamSettings[] {
  if (upstreams.length === 0) {
    throw usageError("Missing URL. Give the REST API of a beacon node, as in fanal doctor http://127.0.0.1:5052.");
  }
  const targets = upstreams.map(readTarget);
  requireDistinct(targets);
  return targets.map((target) => {
    const hasCredentials = target.authorization !== undefined || target.tokenFile !== undefined;
    return upstreamSettings(hasCredentials ? target : { ...target, tokenFile }, workingDirectory);
  });
}

function readTarget(text: string): ParsedUpstream {
  try {
    return upstream(text);
  } catch (error) {
    if (!(error instanceof FlagValueError)) throw error;
    throw usageError(`The URL "${withoutCredentials(text)}" is not accepted: ${error.message}.`, error);
  }
}
