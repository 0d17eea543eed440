import { ForkName } from "@lodestar/params";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMethodTable } from "../../src/api/bound-methods.ts";
import { methods } from "../../src/api/method-groups.ts";
import { failuresOf, OPENRPC_ERRORS } from "../../src/api/openrpc.ts";
import { createRecordingLogger, type LogRecord } from "../../src/log/recording-logger.test-support.ts";
import { Deadline } from "../../src/server/http/deadline.ts";
import { createExecutor, type Execute } from "../../src/server/jsonrpc/execute.ts";
import { ExampleDevChain } from "../support/api/example-chain.ts";
import { paramsOfExamples } from "../support/api/example-params.ts";
import { type Edit, edit, edited } from "./mutation.ts";

/** Default time limit of a call. */
const REQUEST_MILLIS = 60_000;

/** Errors that no parameters may cause: an internal error, or a timeout. */
const INTERNAL_ERROR = -32603;
const SERVER_ERROR = -32000;

/** Control methods would change the chain that the others read. */
const names = methods.filter(({ access }) => access !== "dev").map(({ name }) => name);

/** Arbitrary lists, and lists that start with valid parameters. */
type List = { kind: "arbitrary"; params: unknown } | { kind: "edited"; edits: Edit[]; byName: boolean };

const list: fc.Arbitrary<List> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("arbitrary" as const), params: fc.array(fc.jsonValue()) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("arbitrary" as const),
      params: fc.dictionary(fc.string(), fc.jsonValue()),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("edited" as const),
      edits: fc.array(edit, { minLength: 0, maxLength: 3 }),
      byName: fc.boolean(),
    }),
  },
);

/** Declares the test that arbitrary parameters lead to documented responses, on the first and the last fork. */
export function testArbitraryCalls({ listsPerFork, seed }: { listsPerFork: number; seed: number }): void {
  describe.each([ForkName.phase0, ForkName.fulu] as const)("on %s", (fork) => {
    let chain: ExampleDevChain;
    let validParams: Map<string, unknown[]>;
    let execute: Execute;
    const log: LogRecord[] = [];
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);

    beforeAll(async () => {
      chain = await ExampleDevChain.open(fork);
      validParams = await paramsOfExamples(chain);
      execute = createExecutor({
        table: createMethodTable(chain.api),
        logger: createRecordingLogger(log),
        batchLength: 1000,
        batchBytes: 2 ** 30,
        server: "json-rpc",
      });
    });
    afterAll(() => chain?.close());
    beforeEach(() => {
      process.on("unhandledRejection", onRejection);
    });
    afterEach(() => {
      process.off("unhandledRejection", onRejection);
    });

    it("no parameters break a method", async () => {
      console.info(`The parameters of this run are those of FANAL_TEST_SEED=${seed}.`);
      const codes = new Map<number | "result", number>();
      const property = fc.asyncProperty(fc.constantFrom(...names), list, async (name, given) => {
        const params = given.kind === "arbitrary" ? given.params : editedParams(name, given, validParams);
        const code = await outcomeOf(execute, { jsonrpc: "2.0", id: 1, method: name, params });
        codes.set(code, (codes.get(code) ?? 0) + 1);
        expect([INTERNAL_ERROR, SERVER_ERROR], `${name}: ${JSON.stringify(log.at(-1))}`).not.toContain(code);
        if (code !== "result") expect(documentedCodes(name), name).toContain(code);
      });
      await fc.assert(property, { numRuns: listsPerFork, seed });

      // The test is useful only if some calls reach every part of the node.
      for (const code of ["result", -32602, -32001, -32003] as const)
        expect(codes.get(code), `${code}`).toBeGreaterThan(0);
      expect(log.filter(({ level }) => level === "error")).toEqual([]);
      expect(chain.complaints).toEqual([]);
      expect(rejections).toEqual([]);
    }, 300_000); // Shrinking a counterexample takes time.
  });
}

/** Documented error codes of the method. */
function documentedCodes(name: string): number[] {
  const method = methods.find((each) => each.name === name)!;
  return failuresOf(method).map((kind) => OPENRPC_ERRORS[kind].code);
}

function editedParams(
  name: string,
  { edits, byName }: Extract<List, { kind: "edited" }>,
  validParams: ReadonlyMap<string, unknown[]>,
): unknown {
  const params = edited(validParams.get(name) ?? [], edits);
  if (!byName) return params;
  const method = methods.find((each) => each.name === name)!;
  return Object.fromEntries(
    method.params.slice(0, params.length).map((param, position) => [param.name, params[position]]),
  );
}

async function outcomeOf(execute: Execute, request: object): Promise<number | "result"> {
  const response = await execute(Buffer.from(JSON.stringify(request)), new Deadline(REQUEST_MILLIS));
  if (!Array.isArray(response?.body)) {
    for await (const _chunk of response!.body);
    return "result";
  }
  const { error } = JSON.parse(Buffer.concat(response.body).toString()) as { error?: { code: number } };
  return error ? error.code : "result";
}
