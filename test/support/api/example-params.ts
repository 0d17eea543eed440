import { methods } from "../../../src/api/method-groups.ts";
import type { ExampleDevChain } from "./example-chain.ts";
import { exampleParams, inExampleOrder, isServedOn } from "./examples.ts";

/**
 * Returns valid parameters by method name: of methods that need an EVM, or of all others. Fills the pools of the chain
 * with what they refer to.
 */
export async function paramsOfExamples(
  chain: ExampleDevChain,
  { needingEvm = false } = {},
): Promise<Map<string, unknown[]>> {
  const params = new Map<string, unknown[]>();
  for (const method of inExampleOrder(methods)) {
    if ((method.needsEvm ?? false) !== needingEvm) continue;
    const given = await exampleParams(method, chain);
    params.set(method.name, given);
    if (method.name.startsWith("post_v1_beacon_pool") && isServedOn(method, chain.fork)) {
      await chain.caller.call(method.name, given);
    }
  }
  return params;
}
