import { type Failure, overloaded, unavailable } from "../../failure.ts";
import type { Conditions } from "../condition.ts";
import type { Choice } from "./choice.ts";

/** Why no upstream can be asked or has answered, with what is wrong with each; `errors` are those of this call, by upstream. */
export function nobodyAnswers(
  { all }: Pick<Conditions, "all">,
  { isSomebodyFull }: Pick<Choice, "isSomebodyFull">,
  errors?: ReadonlyMap<string, string>,
): Failure {
  const each = all.map(({ upstream, fitness, reasons }) => {
    return errors?.get(upstream) ?? `${upstream} is ${fitness}${reasons.length > 0 ? `: ${reasons.join(" ")}` : "."}`;
  });
  const why = each.join(" ");
  if (isSomebodyFull) return overloaded(`The upstreams have too many requests to answer at once. ${why}`);
  return unavailable(`No upstream can answer. ${why}`);
}
