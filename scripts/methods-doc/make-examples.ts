import { ForkName } from "@lodestar/params";
import { createMethodTable } from "../../src/api/bound-methods.ts";
import type { MethodDefinition } from "../../src/api/definition.ts";
import { methods } from "../../src/api/method-groups.ts";
import { toErrorObject } from "../../src/server/jsonrpc/errors.ts";
import type { Caller } from "../../src/server/method-table.ts";
import { ExampleDevChain, type ExampleFork } from "../../test/support/api/example-chain.ts";
import { exampleParams, inExampleOrder, isServedOn } from "../../test/support/api/examples.ts";

export interface MadeExample {
  fork: ExampleFork;
  params: unknown[];
  result?: unknown;
  error?: unknown;
  meta?: Record<string, unknown>;
}

/** Makes every example call; the result is what was asked and answered, by the name of the method. */
export async function makeExamples(): Promise<Map<string, MadeExample>> {
  const isShownOnPhase0 = (method: MethodDefinition) =>
    isServedOn(method, ForkName.phase0) && !method.example.isShownLater;
  const made = await makeOn(ForkName.phase0, methods.filter(isShownOnPhase0));
  const isOfGloas = (method: MethodDefinition) =>
    method.since === ForkName.gloas && method.access !== "dev" && isServedOn(method, ForkName.gloas);
  const others = await makeOn(
    ForkName.fulu,
    methods.filter((method) => !isShownOnPhase0(method) && !isOfGloas(method) && !method.needsEvm),
  );
  const gloas = await makeOn(ForkName.gloas, methods.filter(isOfGloas));
  const executed = await makeOn(
    ForkName.fulu,
    methods.filter(({ needsEvm }) => needsEvm),
    { hasEvm: true },
  );
  return new Map([...made, ...others, ...gloas, ...executed]);
}

async function makeOn(
  fork: ExampleFork,
  shown: readonly MethodDefinition[],
  { hasEvm = false } = {},
): Promise<Map<string, MadeExample>> {
  const chain = await ExampleDevChain.open(fork, { isInNetwork: false, hasEvm });
  const made = new Map<string, MadeExample>();
  try {
    const table = createMethodTable(chain.api);
    const { subscriptionId } = chain;
    /** Stands for a WebSocket client. */
    const caller: Caller = {
      subscribe: () => subscriptionId,
      unsubscribe: (id) => id === subscriptionId,
    };
    for (const method of inExampleOrder(shown)) {
      const params = await exampleParams(method, chain);
      made.set(method.name, anywhere({ fork, params, ...(await answerOf(table.find(method.name)!, params, caller)) }));
    }
  } finally {
    await chain.close();
  }
  return made;
}

/** What the JSON-RPC server answers to a call. */
async function answerOf(
  method: NonNullable<ReturnType<ReturnType<typeof createMethodTable>["find"]>>,
  params: unknown[],
  caller: Caller,
): Promise<Pick<MadeExample, "result" | "error" | "meta">> {
  try {
    const { body, meta } = await method.call(params, caller);
    const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body));
    return { result: JSON.parse(bytes.toString("utf8")), ...(meta ? { meta } : {}) };
  } catch (error) {
    return { error: toErrorObject(error) };
  }
}

/**
 * Makes an example independent of the machine, which the node's version names, and of earlier examples, which
 * rpc.discover lists.
 */
function anywhere(example: MadeExample): MadeExample {
  const json = JSON.stringify(example, (key, value) => (key === "examples" ? undefined : value));
  return JSON.parse(json.replaceAll(`/${process.platform}-${process.arch}`, "/linux-x64"));
}
