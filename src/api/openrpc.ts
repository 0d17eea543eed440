import { FAILURES, type FailureKind } from "../errors/failure.ts";
import { isReadOnly } from "../server/access-class.ts";
import type { MethodDefinition, Param, RestPath } from "./definition.ts";
import { formOf } from "./params/schema.ts";
import { type JsonSchema, NAMED_SCHEMAS } from "./schemas.ts";

/**
 * The version of the OpenRPC specification that the document follows, which is the latest one supported by code
 * generators.
 */
const OPENRPC_VERSION = "1.2.6";

interface ErrorForm {
  code: number;
  message: string;
  data: string;
}

const ERRORS = Object.fromEntries(
  Object.entries(FAILURES).map(([kind, { code, title, description }]) => [
    kind,
    { code, message: title, data: description } satisfies ErrorForm,
  ]),
);

export interface OpenRpcDocument {
  openrpc: string;
  info: { title: string; version: string; description: string; license: { name: string } };
  servers: { name: string; url: string }[];
  methods: OpenRpcMethod[];
  components: { schemas: Readonly<Record<string, JsonSchema>>; errors: Readonly<Record<string, ErrorForm>> };
}

export interface OpenRpcMethod {
  name: string;
  summary: string;
  description: string;
  tags: { name: string }[];
  paramStructure: "either";
  params: ContentDescriptor[];
  result: ContentDescriptor;
  errors: { $ref: string }[];
  deprecated: boolean;
  examples?: ExamplePairing[];
  externalDocs?: { url: string; description: string };
  /** If this method is an alias, the name of the original. */
  "x-alias-of"?: string;
}

interface ExamplePairing {
  name: string;
  params: { name: string; value: unknown }[];
  result: { name: string; value: unknown };
}

/** A recorded call, consisting of positional parameters and the result. */
interface RecordedCall {
  params: readonly unknown[];
  /** Omitted if the result is too long, or if the call fails on a chain without peers. */
  result?: unknown;
}

/** Recorded calls by method name. Written by `npm run docs`. */
export type RecordedCalls = Readonly<Record<string, RecordedCall>>;

/** Loads the recorded calls, which are too large to load on every start. */
export async function loadRecordedCalls(): Promise<RecordedCalls> {
  const { default: recorded } = await import("./openrpc-examples.json", { with: { type: "json" } });
  return recorded as RecordedCalls;
}

interface ContentDescriptor {
  name: string;
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

/** Methods under a common heading. */
export interface MethodGroup {
  readonly title: string;
  readonly methods: readonly MethodDefinition[];
}

/** The address on which a node listens by default. */
const DEFAULT_SERVER = { name: "Default address", url: "http://127.0.0.1:9190" };

/**
 * Prefix of methods that belong to JSON-RPC itself, such as `rpc.discover`. They are not listed: tools call them
 * because they are specified, and generators turn the listed names into members, which must not contain a dot.
 */
const RESERVED_PREFIX = "rpc.";

/** Creates the OpenRPC document for the methods (spec.open-rpc.org), with recorded calls as examples. */
export function openRpcDocument(
  groups: readonly MethodGroup[],
  version: string,
  recorded: RecordedCalls = {},
): OpenRpcDocument {
  return {
    openrpc: OPENRPC_VERSION,
    info: {
      title: "Fanal",
      version,
      description: "The JSON-RPC 2.0 interface of an Ethereum beacon node.",
      license: { name: "Apache-2.0" },
    },
    servers: [DEFAULT_SERVER],
    methods: groups.flatMap(({ title, methods }) =>
      methods
        .filter(({ name }) => !name.startsWith(RESERVED_PREFIX))
        .flatMap((method) => describeMethod(method, title, recorded[method.name])),
    ),
    components: { schemas: TITLED_SCHEMAS, errors: ERRORS },
  };
}

/**
 * Describes a method and its aliases. Each alias is listed as a separate method, because tools only know names that are
 * listed.
 */
function describeMethod(method: MethodDefinition, tag: string, recorded: RecordedCall | undefined): OpenRpcMethod[] {
  const entry = describeName(method, tag);
  // In OpenRPC, an example without a result would describe a notification.
  if (recorded && "result" in recorded) entry.examples = [exampleOf(method, recorded)];
  const aliases = method.aliases.map((alias) => ({
    ...entry,
    name: alias,
    description: `Alias of ${method.name}.`,
    "x-alias-of": method.name,
  }));
  return [entry, ...aliases];
}

function describeName(method: MethodDefinition, tag: string): OpenRpcMethod {
  const { name, summary, rest, params, access, sameAs, result } = method;
  const failures: FailureKind[] = [...failuresOf(method), "server"];
  return {
    name,
    summary,
    description: isReadOnly(access) ? summary : `${summary} A submission: it changes the node.`,
    tags: [{ name: tag }],
    paramStructure: "either",
    params: params.map(paramOf),
    result: { name: result.name, schema: titled(`${pascalCase(name)}Result`, result.schema) },
    errors: failures.map((kind) => ({ $ref: `#/components/errors/${kind}` })),
    deprecated: false,
    ...(isStandard(rest[0]) ? { externalDocs: twinOf(rest[0]) } : {}),
    ...(sameAs === undefined ? {} : { "x-alias-of": sameAs }),
  };
}

/** Named schemas with titles, which generators use as type names. */
const TITLED_SCHEMAS = Object.fromEntries(
  Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [name, titled(name, schema)]),
);

/**
 * Adds a title to an object, which would otherwise have no name in generated code. References have the name of their
 * target.
 */
function titled(title: string, schema: JsonSchema): JsonSchema {
  return "$ref" in schema ? schema : { title, ...schema };
}

function pascalCase(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

function exampleOf({ name, params, result }: MethodDefinition, recorded: RecordedCall): ExamplePairing {
  return {
    name,
    params: recorded.params.flatMap((value, position) => {
      // Only the first item of the last parameter has a name.
      const param = params[position];
      return param === undefined ? [] : [{ name: param.name, value }];
    }),
    result: { name: result.name, value: recorded.result },
  };
}

/**
 * Returns a method's failures in the order of the documentation. All methods can fail because of invalid parameters.
 */
export function failuresOf({ failures, cost }: Pick<MethodDefinition, "failures" | "cost">): FailureKind[] {
  const all: FailureKind[] = ["invalid-params", ...failures];
  if (cost !== "cheap") all.push("overloaded");
  return (Object.keys(FAILURES) as FailureKind[]).filter((kind) => all.includes(kind));
}

function isStandard(path: RestPath | undefined): path is RestPath {
  return path?.path.startsWith("/eth/") ?? false;
}

function paramOf(param: Param): ContentDescriptor {
  const { name, required, description } = param;
  return { name, required, description, schema: paramJsonSchema(param) };
}

/** Returns the JSON schema for a parameter that is passed by name. */
export function paramJsonSchema({ schema, each }: Pick<Param, "schema" | "each">): JsonSchema {
  const form = formOf(schema);
  // OpenRPC cannot express that items passed by position may be spread over the remaining parameters.
  return each ? { anyOf: [form, { type: "array", items: form }] } : form;
}

function twinOf({ verb, path, until }: RestPath): { url: string; description: string } {
  return {
    url: "https://ethereum.github.io/beacon-APIs/",
    description: `The result is the data that ${verb} ${path} of the standard REST API returns${until ? `, until ${until.fork}` : ""}.`,
  };
}
