import type { ChainForkConfig } from "@lodestar/config";
import type { ForkName } from "@lodestar/params";
import type { z } from "zod";
import type { FailureKind } from "../errors/failure.ts";
import type { AccessClass } from "../server/access-class.ts";
import type { Feed } from "../server/events/feed.ts";
import type { Answer, Caller, Cost, Dependence } from "../server/method-table.ts";
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

/**
 * One method that can be asked, with all that is known of it. Dispatch, REST, OpenRPC, the documents, the typed handlers
 * and the conformance tests are derived from it; nothing about a method is written anywhere else.
 */
export interface Method {
  /** The method's place in the interface of 62 methods; undefined for those beyond it. */
  readonly number?: number;
  readonly name: string;
  /** Other names that answer exactly like this one. */
  readonly aliases: readonly string[];
  /** The name of the method that this one is only another, separately numbered name of; its error texts are that one's. */
  readonly sameAs?: string;
  /** One line. */
  readonly summary: string;
  /** In positional order. */
  readonly params: readonly Param[];
  /** Those of REST: the same, but for what one of the two alone has. */
  readonly restParams: readonly Param[];
  /** Brings positional parameters that stand in another accepted order or form into the order of `params`. */
  readonly arrange?: (params: unknown[]) => unknown[];
  readonly result: Result;
  /** The kinds of failure that its calls can meet, besides those that every call can. */
  readonly failures: readonly MethodFailure[];
  /** Where REST has it, the current version first. */
  readonly rest: readonly RestPath[];
  readonly cost: Cost;
  readonly access: AccessClass;
  /**
   * The fork that brought what the method is about. Arguments of before it are wrong, whether or not the chain comes to it;
   * a method that takes none finds nothing yet, and a submission is rejected.
   */
  readonly since?: ForkName;
  /** The fork from which on another version takes the method's place, at its REST paths as well. */
  readonly until?: ForkName;
  /** Set where a call may be as large as one that brings a block, although REST has no such path. */
  readonly takesLargeBody?: true;
  /** Set where only a connection that stays open, such as a WebSocket, can be answered. */
  readonly needsConnection?: true;
  readonly example: Example;
  /** The operation of @lodestar/api whose codecs it has, and by whose name callers inside the process find its handler. */
  readonly operation?: OperationId;
  /** The codec of a response; undefined for a handler whose answer is the JSON value itself. */
  readonly codec?: (codecs: Codecs, context: ApiContext) => ResponseCodec<unknown, unknown>;
  /** What reads its SSZ body, where that is not the codec of its operation. */
  readonly requestCodec?: (codecs: Codecs, context: ApiContext) => RequestCodec;
  /** What stands for the status in the result of an operation that REST answers by its status alone; by default `true`. */
  readonly resultOfStatus?: (status: number) => unknown;
  /** The status of a REST answer whose result may be bad news; 200 unless given. */
  readonly restStatusOf?: (result: unknown) => number;
  /**
   * What its answers follow from beside the parameters; undefined when from more than can be said, such as the time of day, the
   * peers or the pools. Answers that depend on the head or the status are kept while nothing changes, unless a slot was asked
   * for: slots between the head and the clock come and go by the time alone.
   */
  readonly dependsOn?: Dependence;
  /** The method that lists all its answers, by the index that is its last parameter. */
  readonly elementOf?: string;
  /** Set where an answer holds what the node has of something, so that a later one may hold more though all of it is final. */
  readonly mayGrow?: true;
  /** Set for a health probe: REST answers it without a token, then by its status alone, and so does the port of the metrics. */
  readonly isProbe?: true;
  /**
   * `args` holds what the schemas of `params` made of a call's parameters, by their keys. A method that writes its JSON
   * itself and is not asked for anything else can do without.
   */
  handler?(context: ApiContext, args: Record<string, unknown>, call?: CallContext): unknown;
  /** Writes the JSON of an answer that is too large to be made of objects. */
  json?(
    context: ApiContext,
    args: Record<string, unknown>,
    codec: ResponseCodec<unknown, unknown> | undefined,
    call?: CallContext,
  ): Promise<Answer>;
  /** The events that REST streams at the method's path. */
  feed?(context: ApiContext, args: Record<string, unknown>): Feed;
  /** Gives the SSZ bytes of an answer that is too large to be made of objects. */
  ssz?(context: ApiContext, args: Record<string, unknown>, call?: CallContext): Promise<SszResponse>;
}

/** The bytes whole or as a stream, which may not be empty. */
export interface SszResponse {
  data: Uint8Array | AsyncIterable<Buffer>;
  meta: unknown;
}

/** Who calls, and whether somebody still waits; callers inside the process are nobody and wait for ever. */
export interface CallContext {
  readonly caller?: Caller | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A wrong parameter, a limit and a node that is busy or closing can meet every call. */
type MethodFailure = Exclude<FailureKind, "invalid-params" | "limit-exceeded" | "overloaded" | "server">;

export interface Result {
  /** A name for what comes back, as OpenRPC wants one. */
  readonly name: string;
  readonly schema: JsonSchema;
}

export interface RestPath {
  readonly verb: "GET" | "POST";
  readonly path: string;
  /** What of a request may be SSZ instead of JSON. It is what the standard says, whatever the codecs could do. */
  readonly ssz?: "answer" | "body";
  /** Set where all who take JSON get it, also those who would rather have SSZ. */
  readonly prefersJson?: true;
  /** Set where the body is the text of the only parameter, whatever its type is said to be. */
  readonly takesText?: true;
  /**
   * Set where the standard has another path in its place from a fork on: what is asked there about a slot of that fork or a
   * later one is refused. The method itself goes on.
   */
  readonly until?: { readonly fork: ForkName; readonly successor: string };
}

type PathOptions = Omit<RestPath, "verb" | "path">;

export const get = (path: string, options: PathOptions = {}): RestPath => ({ verb: "GET", path, ...options });
export const post = (path: string, options: PathOptions = {}): RestPath => ({ verb: "POST", path, ...options });

export interface Param {
  /** The handler's name for it. */
  readonly key: string;
  /** The name in calls: the key in snake_case, unless another is given. */
  readonly name: string;
  /** Of the parameter, or of one item of a parameter that takes several. */
  readonly schema: z.ZodType;
  /** Makes the schema to read with, where the form depends on the forks of a chain; `schema` then only describes it. */
  readonly schemaFor?: (config: ChainForkConfig) => z.ZodType;
  /** What it is, with the article, where it is an object of the chain. */
  readonly noun?: string;
  readonly required: boolean;
  /** Whether it takes all positional parameters from here on, each one item or an array of items; by name, one array. */
  readonly each: boolean;
  readonly description: string;
  /** The header that REST has it in; `isRequired` there. */
  readonly header?: { readonly name: string; readonly isRequired: boolean };
  /** A schema that is stricter than the ordinary one where HTTP allows less. */
  readonly restSchema?: z.ZodType;
  /** Whether REST sets it by its name alone, without a value. */
  readonly isFlag?: boolean;
  /** What a REST request without a body stands for, where calls have to give it. */
  readonly whenNoBody?: unknown;
  /** Set for what REST alone takes, as some clients send it, or JSON-RPC alone, as no path of the standard has it. */
  readonly only?: "rest" | "json-rpc";
}

type ParamOptions = Partial<Pick<Param, "name" | "header" | "restSchema" | "isFlag" | "whenNoBody" | "only">>;

interface ParamDefinition<T, Required extends boolean> extends Omit<Param, "key" | "name"> {
  readonly name?: string;
  /** Only a type: what the schema makes of a value. */
  readonly output?: T;
  readonly required: Required;
}

type ParamDefinitions = Record<string, ParamDefinition<unknown, boolean>>;

/** An optional parameter may also be left out by callers inside the process. */
type ArgsOf<Definitions extends ParamDefinitions> = {
  [Key in keyof Definitions as Definitions[Key]["required"] extends true ? Key : never]: OutputOf<Definitions[Key]>;
} & {
  [Key in keyof Definitions as Definitions[Key]["required"] extends true ? never : Key]?: OutputOf<Definitions[Key]>;
};

type OutputOf<Definition> = Definition extends ParamDefinition<infer T, boolean> ? T : never;

export function required<T>(
  schema: ParamSchema<T> | ForkSchema<T>,
  description: string,
  options: ParamOptions = {},
): ParamDefinition<T, true> {
  return { ...schemasOf(schema), required: true, each: false, description, ...options };
}

export function optional<T>(
  schema: ParamSchema<T> | ForkSchema<T>,
  description: string,
  options: ParamOptions = {},
): ParamDefinition<T, false> {
  return { ...schemasOf(schema), required: false, each: false, description, ...options };
}

/** For the last parameter: one or more items, which may be spread over the rest of the positional parameters. */
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

/** What every definition must say; without any of it, it does not compile. */
interface Facts<Definitions extends ParamDefinitions>
  extends Pick<Method, "name" | "summary" | "result" | "failures" | "cost" | "access" | "example">,
    Partial<
      Pick<
        Method,
        | "number"
        | "aliases"
        | "rest"
        | "since"
        | "until"
        | "needsConnection"
        | "takesLargeBody"
        | "requestCodec"
        | "dependsOn"
        | "elementOf"
        | "mayGrow"
        | "isProbe"
      >
    > {
  /** In positional order. */
  readonly params?: Definitions;
  /** It must leave alone what it does not know. */
  arrange?(params: unknown[]): unknown[];
}

/** Writes an answer itself; the metadata beside it is encoded by the method's codec. */
type Writer<Definitions extends ParamDefinitions, Data, Meta> = (
  context: ApiContext,
  args: ArgsOf<Definitions>,
  codec: ResponseCodec<Data, Meta>,
  call?: CallContext,
) => Promise<Answer>;

type Handler<Definitions extends ParamDefinitions, Response> = (
  context: ApiContext,
  args: ArgsOf<Definitions>,
  call?: CallContext,
) => Response;

/** A method together with the types of its handler. */
type Typed<M, HandlerType> = Omit<M, "handler"> & { readonly handler: HandlerType };

/** A method whose handler answers with a JSON value. */
export function defineMethod<Definitions extends ParamDefinitions = Record<never, never>>(
  definition: Facts<Definitions> & {
    handler: Handler<Definitions, unknown>;
    feed?: Handler<Definitions, Feed>;
    restStatusOf?: Method["restStatusOf"];
  },
): Method {
  return complete(definition);
}

/** What a handler of an operation answers: its data, and the metadata that the operation has. */
// biome-ignore lint/suspicious/noConfusingVoidType: handlers of operations without a response body return nothing at all.
type ResponseOf<Data, Meta> = [Data] extends [void] ? { status: number } | void : WithMeta<Data, Meta>;
type WithMeta<Data, Meta> = [undefined] extends [Meta] ? { data: Data } : { data: Data; meta: Meta };

interface Encoding<Definitions extends ParamDefinitions, Data, Meta> {
  /** Instead of making JSON of what the handler gives. */
  json?: Writer<Definitions, Data, Meta>;
  /** Instead of making SSZ of what the handler gives. */
  ssz?: Handler<Definitions, Promise<SszResponse>>;
  resultOfStatus?: (status: number) => unknown;
}

/** An operation of the standard as @lodestar/api has it: its codecs encode what the handler gives. */
export function defineOperation<
  const Id extends OperationId,
  Response extends ResponseOf<EndpointOf<Id>["return"], EndpointOf<Id>["meta"]>,
  Definitions extends ParamDefinitions = Record<never, never>,
>(
  operation: Id,
  definition: Facts<Definitions> &
    Encoding<Definitions, EndpointOf<Id>["return"], EndpointOf<Id>["meta"]> & {
      handler: Handler<Definitions, Promise<Response>>;
      /** Where the operation's own codec does not fit the answer. */
      codec?: Method["codec"];
    },
): Typed<Method, Handler<Definitions, Promise<Response>>> & { readonly operation: Id } {
  return { ...complete(definition), operation, handler: definition.handler };
}

/** An operation that @lodestar/api does not have, such as an earlier version, with a codec of its own. */
export function defineEncoded<Data, Meta, Definitions extends ParamDefinitions = Record<never, never>>(
  definition: Facts<Definitions> &
    Encoding<Definitions, Data, Meta> & {
      codec: (codecs: Codecs, context: ApiContext) => ResponseCodec<Data, Meta>;
    } & (
      | { handler: Handler<Definitions, Promise<ResponseOf<Data, Meta>>> }
      | { json: Writer<Definitions, Data, Meta>; handler?: never }
    ),
): Method {
  return complete(definition);
}

/** The codec of an operation that REST answers by its status alone. */
export const STATUS_ALONE: ResponseCodec<void, void> = {
  data: { toJson: () => undefined },
  meta: { toJson: () => undefined, toHeadersObject: () => ({}) },
  isEmpty: true,
};

/** A second name of a method that has a number of its own; only the first is found by the name of its operation. */
export function anotherName(
  { operation, ...target }: Method,
  own: Pick<Method, "number" | "name" | "summary" | "arrange">,
): Method {
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

function complete<Definitions extends ParamDefinitions>(definition: Facts<Definitions>): Method {
  const { params = {} as ParamDefinitions, aliases = [], rest = [], ...facts } = definition;
  const all = Object.entries(params).map(([key, param]) => ({
    ...param,
    key,
    name: param.name ?? snakeCase(key),
  }));
  return {
    // Binding fills `args` from these very schemas, which is what the types of the handlers say.
    ...(facts as unknown as Method),
    aliases,
    rest,
    params: all.filter(({ only }) => only !== "rest"),
    restParams: all.filter(({ only }) => only !== "json-rpc"),
  };
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
