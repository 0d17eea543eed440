import { type Failure, overloaded, unavailable } from "../../../errors/failure.ts";
import type { HealthTracker, UpstreamHealth } from "../upstream-health.ts";
import type { UpstreamSelector } from "./upstream-selector.ts";

interface AttemptErrors {
  /** Errors of this call, by upstream. */
  errors?: ReadonlyMap<string, string> | undefined;
  /** Upstreams that did respond, so that their health is not the cause. */
  responded?: ReadonlySet<string>;
}

/** Describes the health of an upstream in a sentence. Reasons that begin with its name are joined by a pronoun. */
export function describeState({
  upstream,
  state,
  reasons,
}: Pick<UpstreamHealth, "upstream" | "state" | "reasons">): string {
  if (reasons.length === 0) return `${upstream} is ${state}.`;
  const named = `${upstream} `;
  const each = reasons.map((reason) => (reason.startsWith(named) ? `it ${reason.slice(named.length)}` : reason));
  return `${upstream} is ${state}: ${each.join(" ")}`;
}

/** Creates the failure for a call that no upstream can answer, with the reason for each. */
export function noUpstreamError(
  { all }: Pick<HealthTracker, "all">,
  { hasSaturatedUpstream }: Pick<UpstreamSelector, "hasSaturatedUpstream">,
  { errors, responded = new Set() }: AttemptErrors = {},
): Failure {
  const each = all
    .filter(({ upstream }) => !responded.has(upstream))
    .map((health) => errors?.get(health.upstream) ?? describeState(health));
  if (hasSaturatedUpstream) {
    return overloaded(
      ["Each available upstream has too many pending requests or has spent its budget.", ...each].join(" "),
    );
  }
  return unavailable(
    [responded.size > 0 ? "No other upstream is available." : "No upstream is available.", ...each].join(" "),
  );
}
