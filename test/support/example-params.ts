import { methods } from "../../src/api/method-groups.ts";
import type { ExampleDevChain } from "./example-chain.ts";
import { exampleParams, inExampleOrder, isServedOn } from "./examples.ts";

/** Parameters that every method takes, by its name, on a chain whose pools then hold what they need. */
export async function paramsOfExamples(chain: ExampleDevChain): Promise<Map<string, unknown[]>> {
  const params = new Map<string, unknown[]>();
  for (const method of inExampleOrder(methods)) {
    const given = await exampleParams(method, chain);
    params.set(method.name, given);
    if (method.name.startsWith("post_v1_beacon_pool") && isServedOn(method, chain.fork)) {
      await chain.caller.call(method.name, given);
    }
  }
  return params;
}
