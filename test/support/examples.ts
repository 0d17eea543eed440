import { type ForkName, ForkSeq } from "@lodestar/params";
import type { Method } from "../../src/api/definition.ts";
import type { ExampleChain } from "../../src/api/example.ts";
import { EXAMPLE_STAGES } from "../../src/api/example.ts";

/** The methods in the order in which their examples can be made on one chain. */
export function inExampleOrder(methods: readonly Method[]): Method[] {
  const stageOf = ({ example }: Method) => EXAMPLE_STAGES.indexOf(example.stage ?? "read");
  return [...methods].sort((a, b) => stageOf(a) - stageOf(b));
}

export async function exampleParams({ example }: Method, chain: ExampleChain): Promise<unknown[]> {
  const { params = [] } = example;
  return typeof params === "function" ? params(chain) : [...params];
}

/** Whether calls of a method succeed on a chain that is in the fork from its genesis on. */
export function isServedOn({ since, until, example }: Method, fork: ForkName): boolean {
  const seq = ForkSeq[fork];
  return !example.isRefused && (!since || seq >= ForkSeq[since]) && (!until || seq < ForkSeq[until]);
}
