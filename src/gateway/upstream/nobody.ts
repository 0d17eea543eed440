import { type Failure, unavailable } from "../../failure.ts";
import type { Conditions } from "../condition.ts";

/** That no upstream can be asked or has answered, with what is wrong with each; `errors` are those of this call, by upstream. */
export function nobodyAnswers({ all }: Pick<Conditions, "all">, errors?: ReadonlyMap<string, string>): Failure {
  const each = all.map(({ upstream, fitness, reasons }) => {
    return errors?.get(upstream) ?? `${upstream} is ${fitness}${reasons.length > 0 ? `: ${reasons.join(" ")}` : "."}`;
  });
  return unavailable("No upstream can answer.", { detail: each.join(" ") });
}
