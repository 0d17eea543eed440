// What the compiler must reject in definitions of methods. The type check reads this file; nothing runs it.
import { defineMethod, defineOperation, optional, required } from "../../src/api/definition.ts";
import { stateId } from "../../src/api/params/identifiers.ts";
import { epoch } from "../../src/api/params/scalars.ts";

const facts = {
  name: "example",
  summary: "An example.",
  result: { name: "result", schema: {} },
  failures: [],
  cost: "cheap",
  access: "read",
  example: {},
} as const;
const { result: _result, ...withoutResult } = facts;
const { failures: _failures, ...withoutFailures } = facts;
const { example: _example, ...withoutExample } = facts;
const { access: _access, ...withoutAccess } = facts;
const { cost: _cost, ...withoutCost } = facts;
const handler = () => null;
// @ts-expect-error
defineMethod({ ...withoutResult, handler });
// @ts-expect-error
defineMethod({ ...withoutFailures, handler });
// @ts-expect-error
defineMethod({ ...withoutExample, handler });
// @ts-expect-error
defineMethod({ ...withoutAccess, handler });
// @ts-expect-error
defineMethod({ ...withoutCost, handler });
// @ts-expect-error
defineMethod(facts);

const version = async () => ({ data: { version: "1" } });
defineOperation("node.getNodeVersion", { ...facts, handler: version });
// @ts-expect-error
defineOperation("node.getNodeVersion", { ...facts, handler: async () => ({ data: { number: 1 } }) });
// @ts-expect-error
defineOperation("node.getNothing", { ...facts, handler: version });

// The parameters of a handler have the types of their schemas.
defineMethod({
  ...facts,
  params: { stateId: required(stateId, "Which."), epoch: optional(epoch, "When.") },
  handler: (_context, { stateId, epoch }) => [stateId, epoch] satisfies [string | number, number | undefined],
});
