import { ForkName } from "@lodestar/params";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMethodTable } from "../../src/api/bound-methods.ts";
import type { MethodDefinition } from "../../src/api/definition.ts";
import { methods } from "../../src/api/method-groups.ts";
import { failuresOf } from "../../src/api/openrpc.ts";
import { FAILURES } from "../../src/errors/failure.ts";
import { Deadline } from "../../src/server/http/deadline.ts";
import { createExecutor, type Execute } from "../../src/server/jsonrpc/execute.ts";
import { ExampleDevChain, type ExampleFork } from "../support/api/example-chain.ts";
import { paramsOfExamples } from "../support/api/example-params.ts";
import { createRecordingLogger, type LogRecord } from "../support/log/recording-logger.ts";
import { EVM_PARAMS } from "./evm-params.ts";
import { type Edit, edit, edited } from "./mutation.ts";

/** Default time limit of a call. */
const REQUEST_MILLIS = 60_000;

/** Errors that no parameters may cause: an internal error, or a timeout. */
const INTERNAL_ERROR = -32603;
const SERVER_ERROR = -32000;

/** Such as too many filters. */
const LIMIT_EXCEEDED = -32005;
/** Code of `eth_*` for a call that reverts. */
const REVERTED = 3;
/** Code of `eth_sendRawTransactionSync` for a transaction that is not included in time (EIP-7966). */
const NOT_INCLUDED_IN_TIME = 4;

interface TestedChain {
  fork: ExampleFork;
  hasEvm: boolean;
  names: readonly string[];
  /** Outcomes that a run must have: they show that some calls reach every part of the node. */
  outcomes: readonly (number | "result")[];
}

const namesOf = (isTested: (method: MethodDefinition) => boolean) => methods.filter(isTested).map(({ name }) => name);

/** Control methods would change the chain that the others read. */
const BEACON = {
  names: namesOf(({ access }) => access !== "dev"),
  outcomes: ["result", -32602, -32001, -32003],
} as const;

const CHAINS: Readonly<Record<string, TestedChain>> = {
  phase0: { fork: ForkName.phase0, hasEvm: false, ...BEACON },
  fulu: { fork: ForkName.fulu, hasEvm: false, ...BEACON },
  "fulu with the EVM": {
    fork: ForkName.fulu,
    hasEvm: true,
    // Calls that execute code more often than the others.
    names: [...namesOf(({ needsEvm }) => needsEvm === true), ...Array(4).fill(Object.keys(EVM_PARAMS)).flat()],
    outcomes: ["result", -32602, SERVER_ERROR, REVERTED],
  },
};

/** Arbitrary lists, and lists that start with valid parameters. */
type List = { kind: "arbitrary"; params: unknown } | EditedList;
type EditedList = { kind: "edited"; edits: Edit[]; byName: boolean; choice: number };

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
      choice: fc.nat(),
    }),
  },
);

/** Declares the test that arbitrary parameters lead to documented responses, on chains with and without the EVM. */
export function testArbitraryCalls({ listsPerChain, seed }: { listsPerChain: number; seed: number }): void {
  describe.each(Object.entries(CHAINS))("on %s", (_title, { fork, hasEvm, names, outcomes }) => {
    let chain: ExampleDevChain;
    let validParams: Map<string, unknown[]>;
    let execute: Execute;
    const log: LogRecord[] = [];
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);

    beforeAll(async () => {
      chain = await ExampleDevChain.open(fork, { isFinalized: !hasEvm, hasEvm });
      validParams = await paramsOfExamples(chain, { needingEvm: hasEvm });
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
        const { code, data } = await outcomeOf(execute, { jsonrpc: "2.0", id: 1, method: name, params });
        codes.set(code, (codes.get(code) ?? 0) + 1);
        if (hasEvm && isErrorOfGeth({ code, data })) return;
        expect([INTERNAL_ERROR, SERVER_ERROR], `${name}: ${JSON.stringify(log.at(-1))}`).not.toContain(code);
        if (code !== "result") expect(documentedCodes(name), name).toContain(code);
      });
      await fc.assert(property, { numRuns: listsPerChain, seed });

      for (const code of outcomes) expect(codes.get(code) ?? 0, `${code}`).toBeGreaterThan(0);
      expect(log.filter(({ level }) => level === "error")).toEqual([]);
      expect(chain.complaints).toEqual([]);
      expect(rejections).toEqual([]);
    }, 300_000); // Shrinking a counterexample takes time.
  });
}

/** Documented error codes of the method. */
function documentedCodes(name: string): number[] {
  const method = methods.find((each) => each.name === name)!;
  return failuresOf(method).map((kind) => FAILURES[kind].code);
}

function editedParams(
  name: string,
  { edits, byName, choice }: EditedList,
  validParams: ReadonlyMap<string, unknown[]>,
): unknown {
  const lists = [validParams.get(name) ?? [], ...(EVM_PARAMS[name] ?? [])];
  const params = edited(lists[choice % lists.length]!, edits);
  if (!byName) return params;
  const method = methods.find((each) => each.name === name)!;
  return Object.fromEntries(
    method.params.slice(0, params.length).map((param, position) => [param.name, params[position]]),
  );
}

/** True for a revert, an exceeded limit, errors of eth_simulateV1, and for a server error without a status, which timeouts have. */
function isErrorOfGeth({ code, data }: Outcome): boolean {
  if (code === SERVER_ERROR) return data?.status === undefined;
  if ([REVERTED, NOT_INCLUDED_IN_TIME, LIMIT_EXCEEDED].includes(Number(code))) return true;
  return code !== "result" && code <= -38_000 && code > -39_000;
}

interface Outcome {
  code: number | "result";
  data?: { status?: number } | undefined;
}

async function outcomeOf(execute: Execute, request: object): Promise<Outcome> {
  const response = await execute(Buffer.from(JSON.stringify(request)), new Deadline(REQUEST_MILLIS));
  if (!Array.isArray(response?.body)) {
    for await (const _chunk of response!.body);
    return { code: "result" };
  }
  const { error } = JSON.parse(Buffer.concat(response.body).toString()) as { error?: Outcome };
  return error ?? { code: "result" };
}
