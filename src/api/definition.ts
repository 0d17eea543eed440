import type { ChainForkConfig } from "@lodestar/config";
import type { ForkName } from "@lodestar/params";
import type { z } from "zod";
import type { FailureKind } from "../errors/failure.ts";
import type { AccessClass } from "../server/access-class.ts";
import type { Feed } from "../server/events/feed.ts";
import type { CacheDependency, CallCost, Caller, MethodResponse } from "../server/method-table.ts";
import {
  type Codecs,
  codecOf,
  type EndpointOf,
  type OperationId,
  type RequestCodec,
  type ResponseCodec,
} from "./codecs.ts";
import type { ApiContext } from "./context.ts";
import type { Example } from "./example.ts";
import type { ForkSchema, ParamSchema } from "./params/schema.ts";
import type { JsonSchema } from "./schemas.ts";

/** Names and parameters of a method. */
export interface MethodSignature {
  readonly name: string;
  /** Other names of the method. */
  readonly aliases: readonly string[];
  /** Original name, for an alias with its own number. Errors use the original name. */
  readonly sameAs?: string;
  /** In positional order. */
  readonly params: readonly Param[];
  /** Parameters in REST. Same as `params`, except for parameters that only one of the two protocols has. */
  readonly restParams: readonly Param[];
  /** Converts another accepted order or form of positional parameters to the order of `params`. */
  readonly normalizePositional?: (params: unknown[]) => unknown[];
}

/** How responses of a method are encoded and request bodies are decoded. */
export interface MethodEncoding {
  /** Operation of @lodestar/api whose codecs are used. In-process callers find the handler by its name. */
  readonly operation?: OperationId;
  /** Response codec; undefined if the handler returns the JSON value itself. */
  readonly codec?: (codecs: Codecs, context: ApiContext) => ResponseCodec<unknown, unknown>;
  /** Parses the SSZ body instead of the codec of the operation. */
  readonly requestCodec?: (codecs: Codecs, context: ApiContext) => RequestCodec;
  /** Result of an operation that has only a status in REST. Default: `true`. */
  readonly resultForStatus?: (status: number) => unknown;
  /** REST status of a result. Default: 200. */
  readonly restStatusOf?: (result: unknown) => number;
  /** Writes the JSON of a response that is too large to be built from objects. */
  json?(
    context: ApiContext,
    args: Record<string, unknown>,
    codec: ResponseCodec<unknown, unknown> | undefined,
    call?: CallContext,
  ): Promise<MethodResponse>;
  /** Writes the SSZ of a response that is too large to be built from objects. */
  ssz?(context: ApiContext, args: Record<string, unknown>, call?: CallContext): Promise<SszResponse>;
}

/** Members needed to dispatch calls over JSON-RPC and REST. */
export interface DispatchedMethod extends MethodSignature, MethodEncoding {
  /** REST paths, the current version first. */
  readonly rest: readonly RestPath[];
  readonly cost: CallCost;
  readonly access: AccessClass;
  /** Allows calls as large as a block. Default: true for methods with a POST path in REST. */
  readonly takesLargeBody?: true;
  /**
   * State that a response depends on, in addition to its parameters. The response is cached until that state changes.
   * Omitted if the response depends on anything else, such as time, peers or pools: it is then not cached. Calls with a
   * slot are not cached either, because the slots between head and clock change with time.
   */
  readonly dependsOn?: CacheDependency;
  /** Method that returns all these responses as a list. Its result is indexed by this method's last parameter. */
  readonly elementOf?: string;
  /** True if the response may grow even though its data is finalized. It is not cached as immutable. */
  readonly growsAfterFinality?: true;
  /** True for a health probe, which needs no token and is also served on the metrics port. */
  readonly isProbe?: true;
  /**
   * Handles a call with parsed arguments, by parameter key. Optional for methods that are only called through `json`.
   */
  handler?(context: ApiContext, args: Record<string, unknown>, call?: CallContext): unknown;
  /** Returns the events that REST streams at the method's path. */
  feed?(context: ApiContext, args: Record<string, unknown>): Feed;
}

/** Members needed for documents, clients and conformance tests. */
export interface MethodDocumentation {
  /** Number in the interface of 62 methods; undefined for others. */
  readonly number?: number;
  /** One line. */
  readonly summary: string;
  readonly result: Result;
  /** Failures that are specific to the method. */
  readonly failures: readonly MethodFailure[];
  /**
   * Fork that introduced the subject of the method. Slots and epochs before it are invalid arguments. Until then, calls
   * without a slot or epoch fail with "not found", and submissions are rejected.
   */
  readonly since?: ForkName;
  /** Fork from which another version replaces the method, also in REST. */
  readonly until?: ForkName;
  /** True if the method needs a persistent connection, such as a WebSocket. */
  readonly needsConnection?: true;
  /** True if the method only works on a node that executes the payloads of its chain. */
  readonly needsEvm?: true;
  readonly example: Example;
}

/**
 * Complete definition of a method. Dispatch, REST, OpenRPC, documents, typed handlers and conformance tests are derived
 * from it.
 */
export interface MethodDefinition extends DispatchedMethod, MethodDocumentation {}

/** SSZ of a response, complete or streamed. A stream must not be empty. */
export interface SszResponse {
  data: Uint8Array | AsyncIterable<Buffer>;
  meta: unknown;
}

/** The caller of a method and its cancellation. In-process callers have neither. */
export interface CallContext {
  readonly caller?: Caller | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Failures specific to a method. All calls can fail with the excluded kinds. */
type MethodFailure = Exclude<FailureKind, "invalid-params" | "limit-exceeded" | "overloaded" | "server">;

export interface Result {
  /** Name of the result, as OpenRPC requires. */
  readonly name: string;
  readonly schema: JsonSchema;
  /** Forms of the result that depend on the form of a parameter, for typed clients. */
  readonly variants?: readonly ResultVariant[];
}

export interface ResultVariant {
  /** Name of the parameter. */
  readonly param: string;
  /** JSON schema of the parameter. */
  readonly form: JsonSchema;
  /** JSON schema of the result. */
  readonly schema: JsonSchema;
}

export interface RestPath {
  readonly verb: "GET" | "POST";
  readonly path: string;
  /** The part of an exchange that may be SSZ or JSON (Beacon API specification). */
  readonly ssz?: "response" | "body";
  /** True to send JSON whenever it is acceptable, even if SSZ is preferred. */
  readonly prefersJson?: true;
  /** True if the body is the text of the only parameter, regardless of Content-Type. */
  readonly takesText?: true;
  /**
   * Fork from which another path replaces this one. Slots of that fork or later are rejected here; the method itself
   * remains.
   */
  readonly until?: { readonly fork: ForkName; readonly successor: string };
}

type PathOptions = Omit<RestPath, "verb" | "path">;

export const get = (path: string, options: PathOptions = {}): RestPath => ({ verb: "GET", path, ...options });
export const post = (path: string, options: PathOptions = {}): RestPath => ({ verb: "POST", path, ...options });

export interface Param {
  /** Name of the argument in the handler. */
  readonly key: string;
  /** Name in calls. Default: the key in snake_case. */
  readonly name: string;
  /** Schema of the value; of one item with `each`. */
  readonly schema: z.ZodType;
  /** Creates the schema of a type that depends on the fork; `schema` then only describes it. */
  readonly schemaFor?: (config: ChainForkConfig) => z.ZodType;
  /** Name of a chain object, with its article. */
  readonly noun?: string;
  readonly required: boolean;
  /**
   * True for a list that consumes all remaining positional parameters, each an item or an array of items. By name it is
   * one array.
   */
  readonly each: boolean;
  readonly description: string;
  /** REST header of the parameter. */
  readonly header?: { readonly name: string; readonly isRequired: boolean };
  /** Stricter schema for REST. */
  readonly restSchema?: z.ZodType;
  /** True if REST sets it by its name alone, without a value. */
  readonly isFlag?: boolean;
  /** Value of a REST request without a body, if the parameter is required in calls. */
  readonly defaultBody?: unknown;
  /** Set for parameters of only one protocol. */
  readonly only?: "rest" | "json-rpc";
}

type ParamOptions = Partial<Pick<Param, "name" | "header" | "restSchema" | "isFlag" | "defaultBody" | "only">>;

interface ParamDefinition<T, Required extends boolean> extends Omit<Param, "key" | "name"> {
  readonly name?: string;
  /** Type only: output of the schema. */
  readonly output?: T;
  readonly required: Required;
}

type ParamDefinitions = Record<string, ParamDefinition<unknown, boolean>>;

/** Arguments of a handler. In-process callers may omit optional ones. */
type ArgsOf<Definitions extends ParamDefinitions> = {
  [Key in keyof Definitions as Definitions[Key]["required"] extends true ? Key : never]: OutputOf<Definitions[Key]>;
} & {
  [Key in keyof Definitions as Definitions[Key]["required"] extends true ? never : Key]?: OutputOf<Definitions[Key]>;
};

type OutputOf<Definition> = Definition extends ParamDefinition<infer T, boolean> ? T : never;

/** Defines a required parameter. */
export function required<T>(
  schema: ParamSchema<T> | ForkSchema<T>,
  description: string,
  options: ParamOptions = {},
): ParamDefinition<T, true> {
  return { ...schemasOf(schema), required: true, each: false, description, ...options };
}

/** Defines an optional parameter. */
export function optional<T>(
  schema: ParamSchema<T> | ForkSchema<T>,
  description: string,
  options: ParamOptions = {},
): ParamDefinition<T, false> {
  return { ...schemasOf(schema), required: false, each: false, description, ...options };
}

/** Defines the last parameter as one or more items, which may be spread over the remaining positional parameters. */
export function each<T>(
  schema: ParamSchema<T> | ForkSchema<T>,
  description: string,
  options: ParamOptions = {},
): ParamDefinition<T[], true> {
  return { ...schemasOf(schema), required: true, each: true, description, ...options };
}

function schemasOf<T>(schema: ParamSchema<T> | ForkSchema<T>): Pick<Param, "schema" | "schemaFor" | "noun"> {
  return "forConfig" in schema ? { schema: schema.form, schemaFor: schema.forConfig, noun: schema.noun } : { schema };
}

/** Members of a definition, mandatory and optional. */
interface DefinitionOptions<Definitions extends ParamDefinitions>
  extends Pick<MethodDefinition, "name" | "summary" | "result" | "failures" | "cost" | "access" | "example">,
    Partial<
      Pick<
        MethodDefinition,
        | "number"
        | "aliases"
        | "rest"
        | "since"
        | "until"
        | "needsConnection"
        | "needsEvm"
        | "takesLargeBody"
        | "requestCodec"
        | "dependsOn"
        | "elementOf"
        | "growsAfterFinality"
        | "isProbe"
      >
    > {
  /** In positional order. */
  readonly params?: Definitions;
  /** Must leave unknown forms unchanged. */
  normalizePositional?(params: unknown[]): unknown[];
}

/** Writes the JSON of a response itself. Metadata is encoded by the codec. */
type JsonWriter<Definitions extends ParamDefinitions, Data, Meta> = (
  context: ApiContext,
  args: ArgsOf<Definitions>,
  codec: ResponseCodec<Data, Meta>,
  call?: CallContext,
) => Promise<MethodResponse>;

type Handler<Definitions extends ParamDefinitions, Response> = (
  context: ApiContext,
  args: ArgsOf<Definitions>,
  call?: CallContext,
) => Response;

/** A method with the type of its handler. */
type TypedMethod<M, HandlerType> = Omit<M, "handler"> & { readonly handler: HandlerType };

/** Defines a method whose handler returns a JSON value. */
export function defineMethod<Definitions extends ParamDefinitions = Record<never, never>>(
  definition: DefinitionOptions<Definitions> & {
    handler: Handler<Definitions, unknown>;
    feed?: Handler<Definitions, Feed>;
    restStatusOf?: MethodDefinition["restStatusOf"];
  },
): MethodDefinition {
  return completeDefinition(definition);
}

/** Return type of an operation's handler: data, and metadata if the operation has any. */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers of operations without a response body return nothing at all.
type ResponseOf<Data, Meta> = [Data] extends [void] ? { status: number } | void : WithMeta<Data, Meta>;
type WithMeta<Data, Meta> = [undefined] extends [Meta] ? { data: Data } : { data: Data; meta: Meta };

interface Encoding<Definitions extends ParamDefinitions, Data, Meta> {
  /** Writes JSON instead of encoding the handler's result. */
  json?: JsonWriter<Definitions, Data, Meta>;
  /** Writes SSZ instead of encoding the handler's result. */
  ssz?: Handler<Definitions, Promise<SszResponse>>;
  resultForStatus?: (status: number) => unknown;
}

type OperationDefinition<
  Id extends OperationId,
  Definitions extends ParamDefinitions,
> = DefinitionOptions<Definitions> &
  Encoding<Definitions, EndpointOf<Id>["return"], EndpointOf<Id>["meta"]> & {
    /** Replaces the operation's own codec. */
    codec?: MethodDefinition["codec"];
  };

/**
 * Defines an operation of @lodestar/api. Its codecs encode the handler's result. An operation that writes its own JSON
 * needs no handler, unless it is called in-process or does not write its own SSZ.
 */
export function defineOperation<
  const Id extends OperationId,
  Response extends ResponseOf<EndpointOf<Id>["return"], EndpointOf<Id>["meta"]>,
  Definitions extends ParamDefinitions = Record<never, never>,
>(
  operation: Id,
  definition: OperationDefinition<Id, Definitions> & { handler: Handler<Definitions, Promise<Response>> },
): TypedMethod<MethodDefinition, Handler<Definitions, Promise<Response>>> & { readonly operation: Id };
export function defineOperation<
  const Id extends OperationId,
  Definitions extends ParamDefinitions = Record<never, never>,
>(
  operation: Id,
  definition: OperationDefinition<Id, Definitions> & {
    json: JsonWriter<Definitions, EndpointOf<Id>["return"], EndpointOf<Id>["meta"]>;
    handler?: never;
  },
): MethodDefinition & { readonly operation: Id };
export function defineOperation(
  operation: OperationId,
  definition: DefinitionOptions<ParamDefinitions>,
): MethodDefinition {
  return { ...completeDefinition(definition), operation };
}

/** Defines an operation that @lodestar/api lacks, such as an earlier version, with its own codec. */
export function defineEncoded<Data, Meta, Definitions extends ParamDefinitions = Record<never, never>>(
  definition: DefinitionOptions<Definitions> &
    Encoding<Definitions, Data, Meta> & {
      codec: (codecs: Codecs, context: ApiContext) => ResponseCodec<Data, Meta>;
    } & (
      | { handler: Handler<Definitions, Promise<ResponseOf<Data, Meta>>> }
      | { json: JsonWriter<Definitions, Data, Meta>; handler?: never }
    ),
): MethodDefinition {
  return completeDefinition(definition);
}

/** Codec of an operation without a response body. */
export const EMPTY_RESPONSE: ResponseCodec<void, void> = {
  data: { toJson: () => undefined },
  meta: { toJson: () => undefined, toHeadersObject: () => ({}) },
  isEmpty: true,
};

/** Defines an alias with its own number. Lookups by operation return only the original. */
export function defineAlias(
  { operation, ...target }: MethodDefinition,
  own: Pick<MethodDefinition, "number" | "name" | "summary" | "normalizePositional">,
): MethodDefinition {
  const codec = target.codec ?? (operation && ((codecs: Codecs) => codecOf(codecs, operation).resp));
  return {
    ...target,
    codec,
    aliases: [],
    rest: [],
    sameAs: target.name,
    ...own,
  };
}

function completeDefinition<Definitions extends ParamDefinitions>(
  definition: DefinitionOptions<Definitions>,
): MethodDefinition {
  const { params = {} as ParamDefinitions, aliases = [], rest = [], ...members } = definition;
  const all = Object.entries(params).map(([key, param]) => ({
    ...param,
    key,
    name: param.name ?? snakeCase(key),
  }));
  return {
    // `bind` fills `args` from these schemas, which the handler types express.
    ...(members as unknown as MethodDefinition),
    aliases,
    rest,
    params: all.filter(({ only }) => only !== "rest"),
    restParams: all.filter(({ only }) => only !== "json-rpc"),
  };
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
