import type { Node } from "typescript/unstable/ast";

export interface Problem {
  /** Where it is. */
  node: Node;
  message: string;
}
