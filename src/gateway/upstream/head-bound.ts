import type { Question } from "../exchange.ts";

const MOVING_IDS: ReadonlySet<string> = new Set(["head", "justified", "finalized"]);

/** Whether the answer follows from where the head is, so that it may not come from an upstream that is further back. */
export function isHeadBound({ method, params }: Pick<Question, "method" | "params">): boolean {
  const id = params.state_id ?? params.block_id;
  if (id !== undefined) return MOVING_IDS.has(id);
  if (method.cost === "duty") return true;
  if (method.dependsOn !== "head" && method.dependsOn !== "status") return false;
  return params.slot === undefined && params.parent_root === undefined;
}
