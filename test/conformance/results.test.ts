import { ForkName } from "@lodestar/params";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MethodDefinition } from "../../src/api/definition.ts";
import { methods } from "../../src/api/method-groups.ts";
import { FAILURES } from "../../src/errors/failure.ts";
import { ExampleDevChain } from "../support/api/example-chain.ts";
import { exampleParams, inExampleOrder, refusalOn } from "../support/api/examples.ts";
import { type ServedApi, serveApi } from "../support/api/served-api.ts";
import { variants } from "../support/suite/tier.ts";
import { documentedParams, documentedResult } from "./documented.ts";
import { OWN_SCHEMAS } from "./own-schemas.ts";
import { twinValidator } from "./twins.ts";

interface Response {
  result?: unknown;
  error?: unknown;
  meta?: Record<string, unknown>;
}

function expectValid(validate: ValidateFunction, value: unknown): void {
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
}

// Methods of the EVM have their own test, eth.test.ts.
const byName = inExampleOrder(methods)
  .filter(({ needsEvm }) => !needsEvm)
  .map((method) => [method.name, method] as const);
const controls = byName.filter(([, { example }]) => example.stage === "control");
const others = byName.filter(([, { example }]) => example.stage !== "control");

const FORKS = variants({ fast: [ForkName.fulu, ForkName.gloas] as const, full: [ForkName.phase0] as const });

describe.each(FORKS)("on %s", (fork) => {
  let chain: ExampleDevChain;
  let served: ServedApi;
  beforeAll(async () => {
    chain = await ExampleDevChain.open(fork);
    served = await serveApi(chain.api);
  });
  afterAll(async () => {
    await served?.close();
    await chain?.close();
  });

  async function expectRightAnswer(name: string, method: MethodDefinition): Promise<void> {
    const params = await exampleParams(method, chain);
    for (const [validate, value] of documentedParams(method, params)) expectValid(validate, value);
    // Only WebSocket clients receive events.
    const refusal = method.needsConnection ? "unsupported" : refusalOn(method, fork);
    if (refusal !== undefined) {
      const { code } = FAILURES[refusal];
      expect(await chain.caller.error(name, params)).toMatchObject({ code });
      expect(JSON.parse((await served.call(name, params)).text)).toMatchObject({ error: { code } });
      return;
    }

    const result: unknown = await chain.caller.call(name, params);

    const validator = twinValidator(method, fork);
    if (validator) expectValid(validator.data, result);
    else expect(OWN_SCHEMAS[name]?.safeParse(result).error).toBeUndefined();
    // The document does not list the method that returns it.
    if (name !== "rpc.discover") expectValid(documentedResult(name), result);

    // The submission is repeated here, which must succeed as well.
    const paramsAgain = method.access === "dev" ? await exampleParams(method, chain) : params;
    const { headers, text } = await served.call(name, paramsAgain);
    const { error, result: again, meta } = JSON.parse(text) as Response;
    expect(error).toBeUndefined();
    // Control methods run again.
    if (method.access !== "dev") expect(again).toEqual(result);
    if (validator?.meta) expectValid(validator.meta, meta);
    if (meta?.version !== undefined) expect(headers.get("eth-consensus-version")).toBe(meta.version);
  }

  it.each(others)("%s returns the same as its twin", expectRightAnswer);

  it("returned no empty list", async () => {
    const lists = [
      "get_v1_beacon_pool_attestations",
      "get_v1_beacon_pool_attester_slashings",
      "get_v1_beacon_pool_proposer_slashings",
      "get_v1_beacon_pool_voluntary_exits",
      "get_v1_node_peers",
      "get_v1_config_fork_schedule",
    ];
    for (const name of lists) expect(await chain.caller.call(name), name).not.toEqual([]);
    const attestations = await chain.caller.call("get_v1_beacon_blocks_blockId_attestations", [chain.slot - 1]);
    expect(attestations).not.toEqual([]);
  });

  // Those of gloas have their own tests, in test/control/.
  it.each(fork === ForkName.gloas ? [] : controls)("%s matches its own schema", expectRightAnswer);

  it("logged no warnings or errors", () => {
    expect(chain.complaints).toEqual([]);
    expect(served.log.filter(({ level }) => level === "error")).toEqual([]);
  });
});
