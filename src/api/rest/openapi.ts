import { FAILURES } from "../../errors/failure.ts";
import { allowsSsz, type MethodDefinition, type Param, type RestPath } from "../definition.ts";
import { type MethodGroup, paramJsonSchema } from "../openrpc.ts";
import { type JsonSchema, NAMED_SCHEMAS } from "../schemas.ts";
import { locateParams, type ParamLocation } from "./param-locations.ts";

const OPENAPI_VERSION = "3.1.0";

interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string; license: { name: string } };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Readonly<Record<string, JsonSchema>> };
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  deprecated?: true;
  parameters: object[];
  requestBody?: object;
  responses: Record<string, object>;
}

const ERROR: JsonSchema = {
  type: "object",
  properties: { code: { type: "integer" }, message: { type: "string" } },
  required: ["code", "message"],
};

/** Methods that return a bare result in REST, as the Beacon API specifies. */
const WITHOUT_DATA: readonly string[] = ["get_v1_debug_fork_choice", "get_v1_beacon_light_client_updates"];

/** Creates the OpenAPI document for all REST paths, from the same definitions that serve them. */
export function openApiDocument(groups: readonly MethodGroup[], version: string): OpenApiDocument {
  const paths: OpenApiDocument["paths"] = {};
  for (const { title, methods } of groups) {
    for (const method of methods) {
      for (const [position, rest] of method.rest.entries()) {
        paths[rest.path] ??= {};
        paths[rest.path]![rest.verb.toLowerCase()] = operationOf(method, rest, { tag: title, position });
      }
    }
  }
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title: "Fanal",
      version,
      description: "The REST API of this beacon node: the standard beacon API and its own paths.",
      license: { name: "Apache-2.0" },
    },
    paths,
    components: { schemas: NAMED_SCHEMAS },
  };
}

function operationOf(method: MethodDefinition, rest: RestPath, { tag, position }: { tag: string; position: number }) {
  const located = locateParams(method.restParams, rest);
  const body = rest.takesText ? undefined : located.find(({ from }) => from === "body");
  const operation: Operation = {
    // Earlier versions of a path follow the current one.
    operationId: position === 0 ? method.name : `${method.name}_${position + 1}`,
    summary: method.summary,
    tags: [tag],
    parameters: located.filter(({ from }) => from !== "body").map(parameterOf),
    responses: responsesOf(method, rest),
  };
  if (rest.until) operation.deprecated = true;
  if (rest.takesText)
    operation.requestBody = { required: true, content: { "text/plain": { schema: { type: "string" } } } };
  if (body) operation.requestBody = bodyOf(body.param, rest);
  return operation;
}

function parameterOf({ param, from }: ParamLocation): object {
  const { name, header, required, description } = param;
  return {
    name: header?.name ?? name,
    in: from,
    required: from === "path" || (header ? header.isRequired : required),
    description,
    schema: schemaOf(param),
  };
}

function bodyOf(param: Param, path: RestPath): object {
  return {
    required: param.defaultBody === undefined && param.required,
    content: contentOf(schemaOf(param), allowsSsz(path, "body")),
  };
}

/** Returns the schema of a parameter, which REST may restrict. The items of a list become an array. */
function schemaOf(param: Param): JsonSchema {
  if (param.isFlag) return { type: "string", description: "Set by its name alone." };
  const schema = paramJsonSchema({ ...param, schema: param.restSchema ?? param.schema, each: false });
  return param.each ? { type: "array", items: schema } : schema;
}

function responsesOf(method: MethodDefinition, path: RestPath): Operation["responses"] {
  const kinds = ["invalid-params", ...method.failures, "server"] as const;
  const errors = [...new Set(kinds.map((kind) => FAILURES[kind].status))].map((status) => [
    String(status),
    { description: "Error", content: { "application/json": { schema: ERROR } } },
  ]);
  const nothing = method.mayBeEmpty && { "204": { description: "There is nothing to return" } };
  return { "200": successOf(method, allowsSsz(path, "response")), ...nothing, ...Object.fromEntries(errors) };
}

function successOf(method: MethodDefinition, hasSsz: boolean): object {
  const { name, feed, result, resultForStatus, restStatusOf } = method;
  if (feed) return { description: "Event stream", content: { "text/event-stream": { schema: { type: "string" } } } };
  const hasBody = !(resultForStatus && !restStatusOf) && (result.schema as { const?: unknown }).const !== true;
  if (!hasBody) return { description: "The status is the answer" };
  const schema = WITHOUT_DATA.includes(name)
    ? result.schema
    : { type: "object", properties: { data: result.schema }, required: ["data"] };
  return { description: result.name, content: contentOf(schema, hasSsz) };
}

function contentOf(schema: JsonSchema, hasSsz: boolean): object {
  return {
    "application/json": { schema },
    ...(hasSsz && { "application/octet-stream": { schema: { type: "string", format: "binary" } } }),
  };
}
