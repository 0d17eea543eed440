import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { UpstreamRequest } from "../../src/gateway/upstream/upstream-call.ts";
import type { DocumentVersion } from "./openapi.ts";

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { parameters: Record<string, Parameter>; schemas: Record<string, object> };
}

interface Operation {
  deprecated?: boolean;
  parameters?: (Parameter & { $ref?: string })[];
  requestBody?: { content: Record<string, { schema: object }> };
}

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: { type?: string };
}

/** An id of a state, block or validator. The documents describe its format in prose only. */
const ID_NAMES = new Set(["state_id", "block_id", "validator_id", "id"]);
const ID = /^(?:head|genesis|finalized|justified|\d+|0x[0-9a-f]{64}|0x[0-9a-f]{96})$/i;
const UINT64 = { type: "string", pattern: "^(?:0|[1-9][0-9]*)$" };

/** Checks requests against one of the standard's documents. */
export class OpenApiRequests {
  readonly version: DocumentVersion;
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, formats: { hex: true } });

  constructor(version: DocumentVersion) {
    this.version = version;
    const text = readFileSync(new URL(`../fixtures/openapi/${version}.json`, import.meta.url), "utf8");
    this.#document = JSON.parse(text, absoluteReference(version)) as Document;
    // The documents accept any string as a number.
    this.#document.components.schemas.Uint64 = UINT64;
    this.#ajv.addSchema(this.#document, version);
  }

  /** True if the document has the operation, such as `GET /eth/v1/node/version`, and does not deprecate it. */
  stateOf(operation: string): "current" | "deprecated" | "absent" {
    const [verb, path] = operation.split(" ") as [string, string];
    const found = this.#document.paths[path]?.[verb.toLowerCase()];
    if (found === undefined) return "absent";
    return found.deprecated ? "deprecated" : "current";
  }

  /** Returns the violations of a request; undefined if the document lacks the operation. */
  violationsOf({ verb, url, headers, body }: UpstreamRequest): string[] | undefined {
    const { pathname, searchParams } = new URL(url, "http://localhost");
    const found = this.#find(verb, pathname);
    if (found === undefined) return undefined;
    const { operation, inPath } = found;
    const parameters = (operation.parameters ?? []).map((each) => this.#resolve(each));
    const violations = [...searchParams.keys()]
      .filter((name) => !parameters.some((parameter) => parameter.in === "query" && parameter.name === name))
      .map((name) => `unknown query parameter ${name}`);
    for (const parameter of parameters) {
      const { name } = parameter;
      const given = {
        path: () => [inPath[name]!],
        query: () => searchParams.getAll(name),
        header: () => [headers[name.toLowerCase()] ?? []].flat(),
      }[parameter.in]();
      if (given.length > 0 ? !this.#accepts(parameter, given) : parameter.required) {
        violations.push(`${parameter.in} parameter ${name} is ${JSON.stringify(given)}`);
      }
    }
    const schema = operation.requestBody?.content["application/json"]?.schema;
    if (schema === undefined) return body === undefined ? violations : [...violations, "unexpected body"];
    const isBodyValid = body !== undefined && this.#ajv.compile(schema)(JSON.parse(String(body)));
    return isBodyValid && areIds(JSON.parse(String(body))) ? violations : [...violations, `body is ${body}`];
  }

  #find(verb: string, pathname: string) {
    for (const [path, { [verb.toLowerCase()]: operation }] of Object.entries(this.#document.paths)) {
      const pattern = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
      const match = operation && pattern.exec(pathname);
      if (match) return { operation, inPath: match.groups ?? {} };
    }
    return undefined;
  }

  #resolve({ $ref, ...parameter }: Parameter & { $ref?: string }): Parameter {
    return $ref === undefined
      ? parameter
      : { ...parameter, ...this.#document.components.parameters[$ref.split("/").at(-1)!]! };
  }

  #accepts({ name, schema }: Parameter, given: readonly string[]): boolean {
    if (ID_NAMES.has(name) && !given.every((each) => ID.test(each))) return false;
    const check = this.#ajv.compile(schema);
    if (schema.type === "array") return check(given);
    return given.length === 1 && check(schema.type === "integer" ? Number(given[0]) : given[0]);
  }
}

/** A list of strings in a body holds validators, by index or public key. */
function areIds(body: unknown): boolean {
  return !Array.isArray(body) || body.every((each) => typeof each !== "string" || ID.test(each));
}

/** Rewrites references for schemas that are compiled separately. */
function absoluteReference(version: DocumentVersion) {
  return (key: string, value: unknown) => (key === "$ref" && String(value).startsWith("#") ? version + value : value);
}
