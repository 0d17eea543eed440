import { availableParallelism } from "node:os";

/** What a reader must know of the machine to judge the figures. */
export function describeMachine(): string {
  return `Node ${process.versions.node}, ${availableParallelism()} cores, ${process.platform} ${process.arch}`;
}
