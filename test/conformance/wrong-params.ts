import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { MethodDefinition, Param } from "../../src/api/definition.ts";
import { paramJsonSchema } from "../../src/api/openrpc.ts";
import { NAMED_SCHEMAS } from "../../src/api/schemas.ts";
import type { Params } from "../../src/server/method-table.ts";
import { type Mistake, wrongPayloads } from "./wrong-payloads.ts";

interface WrongCall {
  mistake: Mistake;
  params: Params;
}

const WRONG_TYPES: readonly unknown[] = [true, 5, -1, {}, [], [[]], [{}], [true], null];
const WRONG_FORMS: readonly unknown[] = [
  1.5,
  "",
  " ",
  "zz",
  "HEAD",
  "-1",
  "+1",
  "01",
  " 1",
  "1e3",
  "0x",
  "0X00",
  "0xzz",
  `0x${"0".repeat(63)}`,
  `0x${"0".repeat(66)}`,
  "0".repeat(95),
  ["zz"],
  ["0x"],
  ["1", "1"],
  ["-1"],
];
const OUT_OF_RANGE: readonly unknown[] = ["18446744073709551616", 2 ** 53, `${2n ** 256n}`, ["18446744073709551616"]];

/**
 * Invalid calls of a method, derived from the schemas of its parameters and from valid parameters, `given` by position.
 */
export function* wrongCalls(method: MethodDefinition, given: readonly unknown[]): Generator<WrongCall> {
  yield* wrongCounts(method, given);
  const padded = [...given, ...method.params.slice(given.length).map(() => null)];
  for (const [position, param] of method.params.entries()) {
    const replaced = (value: unknown) => padded.with(position, value);
    const isTaken = takes(param);
    const wrong = (mistake: Mistake, values: readonly unknown[]): WrongCall[] =>
      values.filter((value) => !isTaken(value)).map((value) => ({ mistake, params: replaced(value) }));
    yield* wrong("type", WRONG_TYPES);
    yield* wrong("form", WRONG_FORMS);
    if ((isTaken("1") && !isTaken("z")) || (isTaken(["1"]) && !isTaken(["z"]))) {
      yield* OUT_OF_RANGE.map((value): WrongCall => ({ mistake: "range", params: replaced(value) }));
    }
    // Only chain objects require all members.
    const payload = param.schemaFor ? given[position] : undefined;
    for (const { mistake, payload: wrong } of wrongPayloads(payload)) yield { mistake, params: replaced(wrong) };
  }
}

function* wrongCounts({ params }: MethodDefinition, given: readonly unknown[]): Generator<WrongCall> {
  const takesMany = params.at(-1)?.each === true;
  const full = [...given, ...params.slice(given.length).map(() => null)];
  yield { mistake: "count", params: takesMany ? [...given, null] : [...full, "surplus"] };
  yield { mistake: "count", params: { unheard_of: 1 } };
  const requiredCount = params.filter(({ required }) => required).length;
  for (let count = 0; count < requiredCount; count++) {
    yield { mistake: "count", params: given.slice(0, count) };
    const named = params.slice(0, count).map(({ name }, position) => [name, given[position]]);
    yield { mistake: "count", params: Object.fromEntries(named) };
  }
}

const ajv = new Ajv2020({ strict: false });
/** Compiling a schema takes much longer than using it. */
const validators = new Map<Param, ValidateFunction>();

/** True if a value matches the schema in the generated documents. */
function takes(param: Param): (value: unknown) => boolean {
  let validate = validators.get(param);
  if (validate === undefined) {
    validate = ajv.compile({ ...paramJsonSchema(param), components: { schemas: NAMED_SCHEMAS } });
    validators.set(param, validate);
  }
  return (value) => (value === null ? !param.required : validate(value));
}
