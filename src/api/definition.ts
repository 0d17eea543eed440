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
import type { NoContent } from "./no-content.ts";
import type { ForkSchema, ParamSchema } from "./params/schema.ts";
import type { JsonSchema } from "./schemas.ts";

/** A method's names and parameters. */
export interface MethodSignature {
  readonly name: string;
  /** Other names for the method. */
  readonly aliases: readonly string[];
  /** For an alias with its own number, the original name, which is also used in errors. */
  readonly sameAs?: string;
  /** In positional order. */
  readonly params: readonly Param[];
  /** The parameters in REST. The same as `params`, except for parameters that only one of the two protocols has. */
  readonly restParams: readonly Param[];
  /** Converts positional parameters from another accepted order or form to the order of `params`. */
  readonly normalizePositional?: (params: unknown[]) => unknown[];
}

/** How a method's responses are encoded and its request bodies decoded. */
export interface MethodEncoding {
  /**
   * Operation in @lodestar/api whose codecs are used. In-process callers find the handler under the operation's name.
   */
  readonly operation?: OperationId;
  /** Response codec. Undefined if the handler itself returns the JSON value. */
  readonly codec?: (codecs: Codecs, context: ApiContext) => ResponseCodec<unknown, unknown>;
  /** Parses the SSZ body. Takes precedence over the operation's own codec. */
  readonly requestCodec?: (codecs: Codecs, context: ApiContext) => RequestCodec;
  /** Returns the result of an operation that only has a status in REST. By default the result is `true`. */
  readonly resultForStatus?: (status: number) => unknown;
  /** Returns the REST status for a result. By default the status is 200. */
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

/** Members needed for dispatching calls over JSON-RPC and REST. */
export interface DispatchedMethod extends MethodSignature, MethodEncoding {
  /** REST paths, starting with the current version. */
  readonly rest: readonly RestPath[];
  readonly cost: CallCost;
  readonly access: AccessClass;
  /** Allows calls as large as a block. Defaults to true for methods with a POST path in REST. */
  readonly takesLargeBody?: true;
  /**
   * The state on which a response depends, in addition to its parameters. The response is cached until that state
   * changes. Omitted if the response depends on anything else, such as time, peers or pools, in which case it is not
   * cached. Calls with a slot are not cached either, because the slots between the head and the clock change with time.
   */
  readonly dependsOn?: CacheDependency;
  /**
   * Name of the method that returns all of these responses as a list, which is indexed by this method's last parameter.
   */
  readonly elementOf?: string;
  /**
   * True if the response may grow even though its data is finalized, in which case the response is not cached as
   * immutable.
   */
  readonly growsAfterFinality?: true;
  /** True if there may be nothing to return: the result is null then, and the status in REST 204. */
  readonly mayBeEmpty?: true;
  /** True for a health probe, which needs no token and is also served on the metrics port. */
  readonly isProbe?: true;
  /**
   * Handles a call with parsed arguments, which are keyed by parameter. Optional for methods that are only called
   * through `json`.
   */
  handler?(context: ApiContext, args: Record<string, unknown>, call?: CallContext): unknown;
  /** Returns the feed that REST streams at the method's path. */
  feed?(context: ApiContext, args: Record<string, unknown>): Feed;
}

/** Members needed for documents, clients and conformance tests. */
export interface MethodDocumentation {
  /** The method's number in the interface of 62 methods. Undefined for other methods. */
  readonly number?: number;
  /** A single line. */
  readonly summary: string;
  readonly result: Result;
  /** Failures that are specific to the method. */
  readonly failures: readonly MethodFailure[];
  /**
   * Fork that introduced what the method is about. Slots and epochs before this fork are invalid arguments. Until this
   * fork, calls without a slot or epoch fail with "not found", and submissions are rejected.
   */
  readonly since?: ForkName;
  /** Fork from which another version of the method replaces this one, in REST as well. */
  readonly until?: ForkName;
  /** True if the method needs a persistent connection, such as a WebSocket. */
  readonly needsConnection?: true;
  /** True if the method only works on a node that executes the payloads of its chain itself. */
  readonly needsEvm?: true;
  readonly example: Example;
}

/**
 * Complete definition of a method, from which dispatch, REST, OpenRPC, documents, typed handlers and conformance tests
 * are derived.
 */
export interface MethodDefinition extends DispatchedMethod, MethodDocumentation {}

/** The SSZ of a response, either complete or streamed. A stream must not be empty. */
export interface SszResponse {
  data: Uint8Array | AsyncIterable<Buffer>;
  meta: unknown;
}

/** The caller of a method and the call's cancellation. In-process callers provide neither. */
export interface CallContext {
  readonly caller?: Caller | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Failures specific to a method. The excluded kinds are possible for all calls. */
type MethodFailure = Exclude<FailureKind, "invalid-params" | "limit-exceeded" | "overloaded" | "server">;

export interface Result {
  /** Name of the result, which OpenRPC requires. */
  readonly name: string;
  readonly schema: JsonSchema;
  /** For typed clients, the forms of the result that depend on the form of a parameter. */
  readonly variants?: readonly ResultVariant[];
}

export interface ResultVariant {
  /** Name of the parameter. */
  readonly param: string;
  /** JSON schema for this form of the parameter. */
  readonly form: JsonSchema;
  /** JSON schema for the result. */
  readonly schema: JsonSchema;
}

export interface RestPath {
  readonly verb: "GET" | "POST";
  readonly path: string;
  /** Whether the response or the body may be SSZ as well as JSON (Beacon API specification). */
  readonly ssz?: "response" | "body" | "both";
  /** True if JSON is sent whenever it is acceptable, even if SSZ is preferred. */
  readonly prefersJson?: true;
  /** True if the body is the text of the only parameter, whatever its Content-Type. */
  readonly takesText?: true;
  /**
   * Fork from which another path replaces this one. Slots at or after that fork are rejected on this path, but the
   * method itself remains.
   */
  readonly until?: { readonly fork: ForkName; readonly successor: string };
}

/** True if the response or the body may be SSZ. */
export const allowsSsz = ({ ssz }: Pick<RestPath, "ssz">, part: "response" | "body"): boolean =>
  ssz === part || ssz === "both";

type PathOptions = Omit<RestPath, "verb" | "path">;

export const get = (path: string, options: PathOptions = {}): RestPath => ({ verb: "GET", path, ...options });
export const post = (path: string, options: PathOptions = {}): RestPath => ({ verb: "POST", path, ...options });

export interface Param {
  /** Name of the handler's argument. */
  readonly key: string;
  /** Name in calls. Defaults to the key in snake_case. */
  readonly name: string;
  /** Schema of the value or, for `each`, of a single item. */
  readonly schema: z.ZodType;
  /** Creates the schema for a type that depends on the fork. In this case `schema` only describes the type. */
  readonly schemaFor?: (config: ChainForkConfig) => z.ZodType;
  /** Name of a chain object, including its article. */
  readonly noun?: string;
  readonly required: boolean;
  /**
   * True for a list that consumes all remaining positional parameters, each of which is an item or an array of items.
   * When passed by name, the list is a single array.
   */
  readonly each: boolean;
  readonly description: string;
  /** REST header that contains the parameter. `inferFrom` returns its value for a JSON body, for calls that omit it. */
  readonly header?: {
    readonly name: string;
    readonly isRequired: boolean;
    readonly inferFrom?: (body: Buffer) => string;
    /** True if upper and lower case differ. */
    readonly isVerbatim?: true;
  };
  /** Stricter schema for REST. */
  readonly restSchema?: z.ZodType;
  /** True if REST sets the parameter by its name alone, without a value. */
  readonly isFlag?: boolean;
  /** Value for a REST request without a body, if calls require the parameter. */
  readonly defaultBody?: unknown;
  /** Set for parameters that only one protocol has. */
  readonly only?: "rest" | "json-rpc";
}

type ParamOptions = Partial<Pick<Param, "name" | "header" | "restSchema" | "isFlag" | "defaultBody" | "only">>;

interface ParamDefinition<T, Required extends boolean> extends Omit<Param, "key" | "name"> {
  readonly name?: string;
  /** Output of the schema. Exists only as a type. */
  readonly output?: T;
  readonly required: Required;
}

type ParamDefinitions = Record<string, ParamDefinition<unknown, boolean>>;

/** Arguments for a handler. In-process callers may omit optional arguments. */
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

/** Members of a definition, both mandatory and optional. */
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
        | "mayBeEmpty"
        | "isProbe"
      >
    > {
  /** In positional order. */
  readonly params?: Definitions;
  /** Must not change unknown forms. */
  normalizePositional?(params: unknown[]): unknown[];
}

/** Writes a response's JSON without the codec. The codec encodes the metadata. */
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

/** A method whose handler has a specific type. */
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

/** Return type of an operation's handler: the data, and the metadata if the operation has any. */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers of operations without a response body return nothing at all.
type ResponseOf<Data, Meta> = [Data] extends [void] ? { status: number } | void : WithMeta<Data, Meta>;
type WithMeta<Data, Meta> = NoContent | ([undefined] extends [Meta] ? { data: Data } : { data: Data; meta: Meta });

interface Encoding<Definitions extends ParamDefinitions, Data, Meta> {
  /** Writes the response as JSON instead of encoding the handler's result. */
  json?: JsonWriter<Definitions, Data, Meta>;
  /** Writes the response as SSZ instead of encoding the handler's result. */
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
 * Defines an operation from @lodestar/api, whose codecs encode the handler's result. An operation that writes its own
 * JSON needs a handler only if it is called in-process or does not write its own SSZ.
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

/** Defines an operation that @lodestar/api lacks, such as an earlier version, and its codec. */
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

/** Codec for an operation without a response body. */
export const EMPTY_RESPONSE: ResponseCodec<void, void> = {
  data: { toJson: () => undefined },
  meta: { toJson: () => undefined, toHeadersObject: () => ({}) },
  isEmpty: true,
};

/** Defines an alias that has its own number. Looking up an operation returns only the original. */
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
    // `bind` fills `args` according to these schemas, which the handler types reflect.
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
