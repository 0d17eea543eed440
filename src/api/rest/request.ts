import type { ChainForkConfig } from "@lodestar/config";
import { yieldToEventLoop } from "../../async/time-slice.ts";
import { invalidParams } from "../../errors/failure.ts";
import {
  JsonLimitError,
  JsonParseError,
  LARGE_MESSAGE_BYTES,
  parseMessage,
  parseMessageInSlices,
} from "../../json/parse.ts";
import { queryOf } from "../../server/rest/request.ts";
import type { RestRequest } from "../../server/rest/route-table.ts";
import { type Args, bind, type Signature } from "../bind.ts";
import type { RequestCodec } from "../codecs.ts";
import type { Param, RestPath } from "../definition.ts";
import { firstMessage } from "../params/schema.ts";
import { locateParams, type ParamLocation } from "./param-locations.ts";
import { readSszBody } from "./ssz-body.ts";

/** Parses REST requests into arguments for a method. */
export class RequestParser {
  /** The parameter that is in the body. */
  readonly bodyParam: Param | undefined;
  readonly #signature: Signature;
  /** The signature for requests with a body, in which an optional body parameter is required. */
  readonly #signatureWithBody: Signature;
  readonly #locations: readonly ParamLocation[];

  constructor(params: readonly Param[], path: RestPath) {
    // Errors name the path, since the caller may not know the method.
    this.#signature = { params, name: `${path.verb} ${path.path}` };
    this.#locations = locateParams(params, path);
    this.bodyParam = this.#locations.find(({ from }) => from === "body")?.param;
    this.#signatureWithBody = {
      ...this.#signature,
      params: params.map((param) => (param === this.bodyParam ? { ...param, required: true } : param)),
    };
  }

  /** Throws if a mandatory header is missing. */
  requireHeaders({ headers }: RestRequest): void {
    for (const { param } of this.#locations) {
      const { header } = param;
      if (header?.isRequired && headers[header.name.toLowerCase()] === undefined) {
        throw invalidParams(`The ${header.name} header is missing.`);
      }
    }
  }

  /** Returns the arguments of a request whose body is JSON or missing. */
  args(request: RestRequest, body: unknown): Args | Promise<Args> {
    const namedParams = this.#namedParams(request);
    if (!this.bodyParam || body === undefined) return bind(this.#signature, namedParams);
    return bind(this.#signatureWithBody, { ...namedParams, [this.bodyParam.name]: body });
  }

  /** Returns the arguments of a request whose body is SSZ. */
  async sszArgs(request: RestRequest, codec: RequestCodec, config: ChainForkConfig): Promise<Args> {
    const { key, name, noun = `the parameter "${name}"` } = this.bodyParam!;
    const params = this.#signature.params.filter((param) => param !== this.bodyParam);
    const args = await bind({ ...this.#signature, params }, this.#namedParams(request));
    return { ...args, [key]: (readSszBody(request, codec, { noun, config }) as Args)[key] };
  }

  #namedParams(request: RestRequest): Args {
    const text = queryOf(request);
    const query = text === "" ? NO_QUERY : new Query(text);
    const namedParams: Args = {};
    for (const location of this.#locations) {
      const { param } = location;
      const value = valueAt(location, request, query);
      if (value === undefined) continue;
      validateRestForm(location, value);
      namedParams[param.name] = value;
    }
    return namedParams;
  }
}

/** Validates the forms that are specific to REST. The values are validated by `bind`. */
function validateRestForm({ param, from }: ParamLocation, value: unknown): void {
  const schema = param.restSchema ?? (from === "header" ? param.schema : undefined);
  const parsed = schema?.safeParse(value);
  if (parsed === undefined || parsed.success) return;
  const subject = from === "header" ? `The ${param.header!.name} header` : `The parameter "${param.name}"`;
  throw invalidParams(`${subject} ${firstMessage(parsed.error)}`);
}

function valueAt(location: ParamLocation, request: RestRequest, query: Query): unknown {
  const { name, header, isFlag } = location.param;
  switch (location.from) {
    case "body":
      return undefined;
    case "path":
      return request.params[name];
    case "header": {
      const value = request.headers[header!.name.toLowerCase()];
      const text = header!.isVerbatim ? value : value?.toLowerCase();
      return text === undefined ? undefined : (BOOLEANS.get(text) ?? text);
    }
    case "query": {
      if (location.type === "array") return query.list(name);
      const text = query.one(name);
      if (text === undefined || location.type !== "boolean") return text;
      return isFlag && text === "" ? true : (BOOLEANS.get(text) ?? text);
    }
  }
}

/** Boolean values as text. */
const BOOLEANS = new Map([
  ["true", true],
  ["false", false],
]);

export async function parseJson(body: Buffer): Promise<unknown> {
  try {
    if (body.length < LARGE_MESSAGE_BYTES) return parseMessage(body);
    await yieldToEventLoop();
    return await parseMessageInSlices(body);
  } catch (cause) {
    if (!(cause instanceof JsonParseError)) throw cause;
    if (cause instanceof JsonLimitError) throw invalidParams(cause.message, { cause });
    throw invalidParams(`The body is not valid JSON: ${cause.message}`, { cause });
  }
}

/**
 * Returns the value of a JSON body. Any other body is returned as text, because command line tools often send text as a
 * form.
 */
export async function parseText({ body, headers }: RestRequest): Promise<unknown> {
  if (/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? "")) return parseJson(body ?? Buffer.alloc(0));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (cause) {
    throw invalidParams("The body must be UTF-8 text.", { cause });
  }
}

/** The values in a query string. Lists are comma-separated or repeat the name. */
class Query {
  readonly #values = new Map<string, string[]>();

  constructor(text: string) {
    requirePercentEncoding(text);
    for (const [name, value] of new URLSearchParams(text)) {
      const values = this.#values.get(name) ?? [];
      values.push(value);
      this.#values.set(name, values);
    }
  }

  /** Returns undefined if the parameter is missing. */
  one(name: string): string | undefined {
    const values = this.#values.get(name);
    if (values === undefined) return undefined;
    if (values.length > 1) throw invalidParams(`The parameter "${name}" must be given only once.`);
    return values[0];
  }

  /** Returns undefined if the parameter is missing. Lists are never empty: `?id=` contains a single empty value. */
  list(name: string): string[] | undefined {
    return this.#values.get(name)?.flatMap((value) => value.split(","));
  }
}

const NO_QUERY = new Query("");

/** Throws if the query is not percent-encoded UTF-8, which the parser would silently accept. */
function requirePercentEncoding(query: string): void {
  try {
    decodeURIComponent(query);
  } catch (cause) {
    throw invalidParams("The query is not percent-encoded UTF-8.", { cause });
  }
}
