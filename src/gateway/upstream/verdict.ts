import type { Question } from "../exchange.ts";

/**
 * What is made of an answer to a read. `given`: it is the answer. `questionable`: it is, unless another upstream knows
 * better, who is asked once. `failed`: it is no answer as long as there is anybody else to ask.
 */
export type Verdict = "given" | "questionable" | "failed";

/** Not found, or not there, on this upstream: it may have pruned it or not seen it yet, or its client does not offer it. */
const QUESTIONABLE: ReadonlySet<number> = new Set([404, 405, 406, 415, 501]);
/** The upstream refuses the gateway, not the caller. */
const REFUSES_GATEWAY: ReadonlySet<number> = new Set([401, 403, 408, 429]);

export function verdictOn(status: number, { method }: Pick<Question, "method">): Verdict {
  if (status < 400) return "given";
  // The health of a node is told by the status.
  if (method.restStatusOf !== undefined || method.resultOfStatus !== undefined) return "given";
  if (QUESTIONABLE.has(status)) return "questionable";
  return status >= 500 || REFUSES_GATEWAY.has(status) ? "failed" : "given";
}

/** Whether an upstream says that it has not taken what was submitted, though another may. */
export function isNotTaken(status: number): boolean {
  return status === 429 || status === 503 || QUESTIONABLE.has(status) || REFUSES_GATEWAY.has(status);
}
