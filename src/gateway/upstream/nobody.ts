import { type Failure, overloaded, unavailable } from "../../errors/failure.ts";
import type { Conditions } from "../condition.ts";
import type { Choice } from "./choice.ts";

interface Asked {
  /** Those of this call, by upstream. */
  errors?: ReadonlyMap<string, string> | undefined;
  /** Those whose answers are not this call's. */
  others?: ReadonlySet<string>;
}

/** Why no upstream can be asked or has answered, with what is wrong with each. */
export function nobodyAnswers(
  { all }: Pick<Conditions, "all">,
  { isSomebodyFull }: Pick<Choice, "isSomebodyFull">,
  { errors, others = new Set() }: Asked = {},
): Failure {
  const each = all
    .filter(({ upstream }) => !others.has(upstream))
    .map(({ upstream, fitness, reasons }) => {
      return errors?.get(upstream) ?? `${upstream} is ${fitness}${reasons.length > 0 ? `: ${reasons.join(" ")}` : "."}`;
    });
  if (isSomebodyFull) {
    return overloaded(["The upstreams have too many requests to answer at once.", ...each].join(" "));
  }
  return unavailable(
    [others.size > 0 ? "No other upstream can answer." : "No upstream can answer.", ...each].join(" "),
  );
}
