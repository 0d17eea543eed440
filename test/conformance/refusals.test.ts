import { ForkName } from "@lodestar/params";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { methods } from "../../src/api/method-groups.ts";
import { FAILURES } from "../../src/errors/failure.ts";
import { ExampleDevChain } from "../support/api/example-chain.ts";
import { exampleParams, inExampleOrder, isServedOn, refusalOn } from "../support/api/examples.ts";
import { variants } from "../support/suite/tier.ts";
import { SPECIAL_CALLS } from "./special-calls/special-calls.ts";
import { wrongCalls } from "./wrong-params.ts";
import type { Mistake } from "./wrong-payloads.ts";

const INVALID_PARAMS = FAILURES["invalid-params"].code;

/** Text and boolean parameters, for which every well-formed value is valid. */
const NO_GENERATED_FORM: readonly string[] = [
  "setLogLevel",
  "setGraffiti",
  "get_v1_node_peers_peerId",
  "unsubscribe",
  "evm_setAutomine",
  "anvil_reset",
];

/** Once the slot has its block or has passed, some of the other examples become invalid. */
const LAST_STAGES: readonly (string | undefined)[] = ["publish", "control"];
// Methods of the EVM have their own test, eth.test.ts.
const blocksLast = methods
  .filter(({ needsEvm }) => !needsEvm)
  .toSorted((a, b) => LAST_STAGES.indexOf(a.example.stage) - LAST_STAGES.indexOf(b.example.stage));

describe.each(variants({ fast: [ForkName.fulu], full: [ForkName.phase0] } as const))("on %s", (fork) => {
  let chain: ExampleDevChain;
  beforeAll(async () => {
    chain = await ExampleDevChain.open(fork);
    // Pool contents that the examples of other methods need.
    for (const method of methods) {
      if (method.example.stage !== "attest" || !isServedOn(method, fork)) continue;
      await chain.caller.call(method.name, await exampleParams(method, chain));
    }
  });
  afterAll(() => chain?.close());

  it.each(
    Object.entries(SPECIAL_CALLS).flatMap(([name, calls]) =>
      calls
        .filter((call) => call.only === undefined || call.only === fork)
        .map((call) => [name, call.what, call] as const),
    ),
  )("%s: %s", async (name, _what, call) => {
    const params = await call.params(chain);
    if ("code" in call) expect(await chain.caller.error(name, params)).toMatchObject({ code: call.code });
    else expect(await chain.caller.call(name, params)).toEqual(call.result);
  });

  it.each(blocksLast.map((method) => [method.name, method] as const))(
    "%s rejects invalid calls",
    async (name, method) => {
      const given = await exampleParams(method, chain);
      const mistakes = new Set<Mistake>();
      for (const wrong of wrongCalls(method, given)) {
        const { code, message } = await chain.caller.error(name, wrong.params);
        expect({ code, message }, `${wrong.mistake}: ${shown(wrong.params)}`).toMatchObject({ code: INVALID_PARAMS });
        mistakes.add(wrong.mistake);
      }
      expect(mistakes).toContain("count");
      if (method.params.length > 0) expect(mistakes).toContain("type");
      if (method.params.length > 0 && !NO_GENERATED_FORM.includes(name)) expect(mistakes).toContain("form");

      // If valid parameters were rejected too, the above would prove nothing.
      const refusal = method.needsConnection ? "unsupported" : refusalOn(method, fork);
      if (refusal === undefined) await chain.caller.call(name, given);
      else expect(await chain.caller.error(name, given)).toMatchObject({ code: FAILURES[refusal].code });
    },
  );

  it("logged no warnings or errors", () => {
    expect(chain.complaints).toEqual([]);
  });
});

describe("on gloas, methods since gloas", () => {
  // Control of gloas chains has its own tests, in test/control/.
  const ofGloas = inExampleOrder(methods).filter(({ since, access }) => since === ForkName.gloas && access !== "dev");
  let chain: ExampleDevChain;
  beforeAll(async () => {
    chain = await ExampleDevChain.open(ForkName.gloas);
  });
  afterAll(() => chain?.close());

  it.each(ofGloas.map((method) => [method.name, method] as const))("%s rejects invalid calls", async (name, method) => {
    const given = await exampleParams(method, chain);
    for (const { mistake, params } of wrongCalls(method, given)) {
      expect(await chain.caller.error(name, params), `${mistake}: ${shown(params)}`).toMatchObject({
        code: INVALID_PARAMS,
      });
    }
    for (const call of SPECIAL_CALLS[name]!) {
      if (call.only !== undefined && call.only !== ForkName.gloas) continue;
      const params = await call.params(chain);
      if ("code" in call) expect(await chain.caller.error(name, params), call.what).toMatchObject({ code: call.code });
      else expect(await chain.caller.call(name, params), call.what).toEqual(call.result);
    }
    // If valid parameters were rejected too, the above would prove nothing.
    await chain.caller.call(name, given);
  });
});

it("has calls out of range or with unknown references for every method with parameters", () => {
  const withParams = methods.filter(({ params, needsEvm }) => params.length > 0 && !needsEvm).map(({ name }) => name);
  expect(Object.keys(SPECIAL_CALLS).sort()).toEqual(withParams.sort());
});

function shown(params: unknown): string {
  const text = JSON.stringify(params);
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}
