import { ForkName, ForkSeq } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MethodDefinition, Param } from "../../src/api/definition.ts";
import { methods } from "../../src/api/method-groups.ts";
import { paramJsonSchema } from "../../src/api/openrpc.ts";
import { isReadOnly } from "../../src/server/access-class.ts";
import { ExampleDevChain } from "../support/api/example-chain.ts";
import { exampleParams, inExampleOrder } from "../support/api/examples.ts";
import { type ServedApi, serveApi } from "../support/api/served-api.ts";
import { variants } from "../support/suite/tier.ts";
import { askTwin } from "./lodestar-client.ts";
import { type RestCall, restCall } from "./rest-request.ts";

/** Methods with a REST path. Events are not a method result. */
const SHARED = inExampleOrder(methods)
  .filter(({ rest, needsConnection }) => rest.length > 0 && !rest[0]!.takesText && !needsConnection)
  .map((method) => [method.name, method] as const);

const isList = (param: Param) => param.each || paramJsonSchema(param).type === "array";
const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
const LIST_TAKING = SHARED.filter(([, { params }]) => params.some(isList));

interface Response {
  result?: unknown;
  error?: { message: string; data: { status: number; detail?: string; failures?: unknown } };
  meta?: Record<string, unknown>;
}

/** The exact bytes of the result in a response object. */
function resultText(text: string, { meta }: Response): string {
  const start = '{"jsonrpc":"2.0","id":1,"result":';
  const end = `,"meta":${JSON.stringify(meta)}}`;
  expect(text.startsWith(start) && text.endsWith(end)).toBe(true);
  return text.slice(start.length, -end.length);
}

/** Operations whose REST body is the result itself. */
const WITHOUT_DATA = ["get_v1_debug_fork_choice", "get_v1_beacon_light_client_updates"];

/** Expected REST response. */
function expectedText(method: MethodDefinition, text: string, response: Response): string {
  const result = resultText(text, response);
  const meta = response.meta ?? {};
  if (WITHOUT_DATA.includes(method.name)) return result;
  if (method.name === "get_v1_node_peers") return `{"data":${result},"meta":${JSON.stringify(meta)}}`;
  const beside = Object.keys(meta).length === 0 ? "}" : `,${JSON.stringify(meta).slice(1)}`;
  return `{"data":${result}${beside}`;
}

const init = ({ verb, headers, body }: RestCall) => ({ method: verb, headers, body });

describe.each(variants({ fast: [ForkName.fulu, ForkName.gloas], full: [ForkName.phase0] } as const))(
  "on %s",
  (fork) => {
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

    it.each(SHARED)("%s returns the same over JSON-RPC and REST", async (name, method) => {
      const params = await exampleParams(method, chain);
      const { text } = await served.call(name, params);
      const response = JSON.parse(text) as Response;
      const call = restCall(method, params, fork);
      const reply = await served.ask(call.path, init(call));

      const { until } = method.rest[0]!;
      if (until && ForkSeq[fork] >= ForkSeq[until.fork]) {
        expect(response.error).toBeUndefined();
        expect(reply.status).toBe(501);
        expect(JSON.parse(reply.text)).toEqual({
          code: 501,
          message: expect.stringContaining(`slots before ${until.fork}`),
          kind: "unsupported",
        });
        // The suggested path returns the method's result.
        const [verb, successor] = until.successor.split(" ");
        const query = call.path.slice(call.path.indexOf("?"));
        const { text: heeded } = await served.ask(`${successor}${query}&committee_index=0`, { method: verb! });
        expect(JSON.parse(heeded).data).toEqual(response.result);
      } else if (response.error) {
        const { message, data } = response.error;
        expect(reply.status).toBe(data.status);
        const { kind, ...body } = JSON.parse(reply.text);
        expect(body).toEqual({
          code: data.status,
          message: expect.any(String),
          detail: data.detail,
          failures: data.failures,
        });
        if (data.status === 501) expect({ kind, message: body.message }).toEqual({ kind: "unsupported", message });
      } else if (name === "get_v1_node_health") {
        expect(reply).toMatchObject({ status: (response.result as { health: number }).health, text: "" });
      } else if (!isReadOnly(method.access)) {
        expect(reply).toMatchObject({ status: response.result === true ? 200 : response.result, text: "" });
      } else {
        expect(reply.status).toBe(200);
        expect(reply.text).toBe(expectedText(method, text, response));
        expect(reply.headers.get("content-type")).toBe("application/json");
        if (!WITHOUT_DATA.includes(name)) {
          expect(reply.headers.get("eth-consensus-version")).toBe(response.meta?.version ?? null);
        }
      }
      await askTwin(served, chain, { method, call, response });
    });

    it.each(LIST_TAKING)("%s treats an empty list the same over JSON-RPC and REST", async (name, method) => {
      const params = (await exampleParams(method, chain)).slice(0, method.params.length);
      params[method.params.findIndex(isList)] = [];
      const named = Object.fromEntries(params.map((value, position) => [method.params[position]!.name, value]));
      const { error, result } = JSON.parse((await served.call(name, named)).text) as Response;
      // A query cannot express an empty list, so the parameter is omitted.
      const isQuery = method.rest[0]!.verb === "GET";
      const call = restCall(method, isQuery ? params.map((value) => (isEmpty(value) ? null : value)) : params, fork);
      const { status, text } = await served.ask(call.path, init(call));
      expect(status).toBe(error?.data.status ?? 200);
      if (!error && method.access === "read") expect(JSON.parse(text).data).toEqual(result);
    });

    it("accepts an SSZ block at the first version's path without a fork header", async () => {
      const json = await chain.signedBlock();
      const contents = ssz.fulu.SignedBlockContents;
      const type = (fork === ForkName.fulu ? contents : ssz[fork].SignedBeaconBlock) as unknown as typeof contents;
      const body = type.serialize(type.fromJson(json));
      const headers = { "Content-Type": "application/octet-stream" };
      const reply = await served.ask("/eth/v1/beacon/blocks", { method: "POST", headers, body: new Uint8Array(body) });
      expect(reply).toMatchObject({ status: 200, text: "" });
    });

    it("logged no warnings or errors", () => {
      expect(chain.complaints).toEqual([]);
      expect(served.log.filter(({ level }) => level === "error")).toEqual([]);
    });
  },
);
