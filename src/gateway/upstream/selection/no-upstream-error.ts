import { type Failure, overloaded, unavailable } from "../../../errors/failure.ts";
import { type HealthTracker, isUsable, type UpstreamHealth } from "../upstream-health.ts";
import type { UpstreamSelector } from "./upstream-selector.ts";

interface AttemptErrors {
  /** Errors of this call, by upstream. */
  errors?: ReadonlyMap<string, string> | undefined;
  /** Upstreams that responded: their health is not the cause. */
  responded?: ReadonlySet<string>;
}

/** Describes the health of an upstream in a sentence. Reasons that begin with its name are joined by a pronoun. */
export function describeState({
  upstream,
  state,
  reasons,
}: Pick<UpstreamHealth, "upstream" | "state" | "reasons">): string {
  if (reasons.length === 0) return `${upstream} is ${state}.`;
  const prefix = `${upstream} `;
  const clauses = reasons.map((reason) => (reason.startsWith(prefix) ? `it ${reason.slice(prefix.length)}` : reason));
  return `${upstream} is ${state}: ${clauses.join(" ")}`;
}

/** Describes an unmet quorum, with the reason for each unusable upstream. */
export function unmetQuorum(quorum: number, health: readonly UpstreamHealth[]): string {
  const unusable = health.filter((each) => !isUsable(each));
  const usable = health.length - unusable.length;
  const actual = `${usable} of ${health.length} ${usable === 1 ? "is" : "are"}`;
  const problem = `The quorum requires ${quorum} usable upstreams, but only ${actual}.`;
  return [problem, ...unusable.map(describeState)].join(" ");
}

/** Creates the failure for a call that no upstream can answer, with the reason for each. */
export function noUpstreamError(
  { all }: Pick<HealthTracker, "all">,
  { saturationReasons }: Pick<UpstreamSelector, "saturationReasons">,
  { errors, responded = new Set() }: AttemptErrors = {},
): Failure {
  const each = all
    .filter(({ upstream }) => !responded.has(upstream))
    .map((health) => errors?.get(health.upstream) ?? saturationReasons.get(health.upstream) ?? describeState(health));
  const problem = responded.size > 0 ? "No other upstream is available." : "No upstream is available.";
  return (saturationReasons.size > 0 ? overloaded : unavailable)([problem, ...each].join(" "));
}
