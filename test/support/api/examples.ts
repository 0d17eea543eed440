import { ForkName, ForkSeq } from "@lodestar/params";
import type { MethodDefinition } from "../../../src/api/definition.ts";
import type { ExampleChain } from "../../../src/api/example.ts";
import { EXAMPLE_STAGES } from "../../../src/api/example.ts";
import type { FailureKind } from "../../../src/errors/failure.ts";

/** Returns methods in an order in which all examples run on one chain. */
export function inExampleOrder(methods: readonly MethodDefinition[]): MethodDefinition[] {
  const stageOf = ({ example }: MethodDefinition) => EXAMPLE_STAGES.indexOf(example.stage ?? "read");
  return [...methods].sort((a, b) => stageOf(a) - stageOf(b));
}

export async function exampleParams({ example }: MethodDefinition, chain: ExampleChain): Promise<unknown[]> {
  const { params = [] } = example;
  return typeof params === "function" ? params(chain) : [...params];
}

/** True if calls of a method succeed on a chain that starts in the fork and has no EVM. */
export function isServedOn(method: MethodDefinition, fork: ForkName): boolean {
  return refusalOn(method, fork) === undefined;
}

/** Returns the error of a method on a chain that starts in the fork and has no EVM. Undefined if calls succeed. */
export function refusalOn(
  { since, until, needsEvm, example, access, params }: MethodDefinition,
  fork: ForkName,
): FailureKind | undefined {
  const seq = ForkSeq[fork];
  if (needsEvm) return "unsupported";
  if (example.isUnsupported || (until && seq >= ForkSeq[until])) return "unsupported";
  if (!since || seq >= ForkSeq[since]) return undefined;
  if (access === "dev" && since === ForkName.gloas) return "unsupported";
  if (access !== "read") return "rejected";
  // Without arguments, a call cannot refer to data before the fork. Its result is empty.
  return params.length === 0 ? "not-found" : "invalid-params";
}
