import { type Failure, overloaded, unavailable } from "../../../errors/failure.ts";
import type { HealthTracker } from "../upstream-health.ts";
import type { UpstreamSelector } from "./upstream-selector.ts";

interface AttemptErrors {
  /** Errors of this call, by upstream. */
  errors?: ReadonlyMap<string, string> | undefined;
  /** Upstreams that did respond, so that their health is not the cause. */
  responded?: ReadonlySet<string>;
}

/** Creates the failure for a call that no upstream can answer, with the reason for each. */
export function noUpstreamError(
  { all }: Pick<HealthTracker, "all">,
  { hasSaturatedUpstream }: Pick<UpstreamSelector, "hasSaturatedUpstream">,
  { errors, responded = new Set() }: AttemptErrors = {},
): Failure {
  const each = all
    .filter(({ upstream }) => !responded.has(upstream))
    .map(({ upstream, state, reasons }) => {
      return errors?.get(upstream) ?? `${upstream} is ${state}${reasons.length > 0 ? `: ${reasons.join(" ")}` : "."}`;
    });
  if (hasSaturatedUpstream) {
    return overloaded(
      ["All available upstreams have too many pending requests, or spent their budgets.", ...each].join(" "),
    );
  }
  return unavailable(
    [responded.size > 0 ? "No other upstream is available." : "No upstream is available.", ...each].join(" "),
  );
}
