import { ForkName } from "@lodestar/params";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { methods } from "../../src/api/method-groups.ts";
import { FAILURES } from "../../src/errors/failure.ts";
import { ExampleDevChain } from "../support/api/example-chain.ts";
import { exampleParams, inExampleOrder } from "../support/api/examples.ts";
import { documentedParams, documentedResult } from "./documented.ts";
import { wrongCalls } from "./wrong-params.ts";

const METHODS = inExampleOrder(methods)
  .filter(({ needsEvm }) => needsEvm)
  .map((method) => [method.name, method] as const);
const INVALID_PARAMS = FAILURES["invalid-params"].code;

let chain: ExampleDevChain;
beforeAll(async () => {
  chain = await ExampleDevChain.open(ForkName.fulu, { isFinalized: false, hasEvm: true });
});
afterAll(() => chain?.close());

function expectValid(validate: ValidateFunction, value: unknown): void {
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
}

it.each(METHODS)("%s accepts and returns what its definition specifies", async (name, method) => {
  const params = await exampleParams(method, chain);
  for (const [validate, value] of documentedParams(method, params)) expectValid(validate, value);
  if (method.needsConnection) return;
  expectValid(documentedResult(name), await chain.caller.call(name, params));
});

it.each(METHODS)("%s rejects invalid parameters", async (name, method) => {
  const given = await exampleParams(method, chain);
  for (const { mistake, params } of wrongCalls(method, given)) {
    const error = await chain.caller.error(name, params);
    expect(error, `${mistake}: ${JSON.stringify(params).slice(0, 300)}`).toMatchObject({ code: INVALID_PARAMS });
  }
});

it("logs nothing", () => {
  expect(chain.complaints).toEqual([]);
});
