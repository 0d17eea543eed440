import type { ChainForkConfig } from "@lodestar/config";
import { yieldToEventLoop } from "../../async/time-slice.ts";
import { invalidParams } from "../../errors/failure.ts";
import { JsonParseError, LARGE_MESSAGE_BYTES, parseMessage, parseMessageInSlices } from "../../json/parse.ts";
import type { RestRequest } from "../../server/rest/route-table.ts";
import { type Args, bind, type Signature } from "../bind.ts";
import type { RequestCodec } from "../codecs.ts";
import type { Param, RestPath } from "../definition.ts";
import { firstMessage } from "../params/schema.ts";
import { type Place, placesOf } from "./places.ts";
import { readSszBody } from "./ssz-body.ts";

/** Makes a by-name call of a REST request. */
export class RequestReader {
  /** The parameter that the body holds. */
  readonly bodyParam: Param | undefined;
  readonly #signature: Signature;
  /** A body that is there stands for something, also where it could have been left out. */
  readonly #signatureWithBody: Signature;
  readonly #places: readonly Place[];

  constructor(params: readonly Param[], path: RestPath) {
    // A complaint about the parameters names the path, not a method that the caller may never have heard of.
    this.#signature = { params, name: `${path.verb} ${path.path}` };
    this.#places = placesOf(params, path);
    this.bodyParam = this.#places.find(({ from }) => from === "body")?.param;
    this.#signatureWithBody = {
      ...this.#signature,
      params: params.map((param) => (param === this.bodyParam ? { ...param, required: true } : param)),
    };
  }

  /** Throws for a header that the current version of the operation insists on. */
  requireHeaders({ headers }: RestRequest): void {
    for (const { param } of this.#places) {
      const { header } = param;
      if (header?.isRequired && headers[header.name.toLowerCase()] === undefined) {
        throw invalidParams(`The header ${header.name} is missing.`);
      }
    }
  }

  /** The arguments of a request whose body, if it has one, is the JSON `body`. */
  args(request: RestRequest, body: unknown): Args | Promise<Args> {
    const named = this.#named(request);
    if (!this.bodyParam || body === undefined) return bind(this.#signature, named);
    return bind(this.#signatureWithBody, { ...named, [this.bodyParam.name]: body });
  }

  /** The arguments of a request with an SSZ body, which the codec of the operation reads. */
  async sszArgs(request: RestRequest, codec: RequestCodec, config: ChainForkConfig): Promise<Args> {
    const { key, name, noun = `the parameter "${name}"` } = this.bodyParam!;
    const params = this.#signature.params.filter((param) => param !== this.bodyParam);
    const args = await bind({ ...this.#signature, params }, this.#named(request));
    return { ...args, [key]: (readSszBody(request, codec, { noun, config }) as Args)[key] };
  }

  #named(request: RestRequest): Args {
    const query = request.query === "" ? NO_QUERY : new Query(request.query);
    const named: Args = {};
    for (const place of this.#places) {
      const { param } = place;
      const value = valueAt(place, request, query);
      if (value === undefined) continue;
      requireForm(place, value);
      named[param.name] = value;
    }
    return named;
  }
}

/** What only REST refuses, or has another name for; the rest is told when the call is bound. */
function requireForm({ param, from }: Place, value: unknown): void {
  const schema = param.restSchema ?? (from === "header" ? param.schema : undefined);
  const parsed = schema?.safeParse(value);
  if (parsed === undefined || parsed.success) return;
  const subject = from === "header" ? `The header ${param.header!.name}` : `The parameter "${param.name}"`;
  throw invalidParams(`${subject} ${firstMessage(parsed.error)}`);
}

function valueAt(place: Place, request: RestRequest, query: Query): unknown {
  const { name, header, isFlag } = place.param;
  switch (place.from) {
    case "body":
      return undefined;
    case "path":
      return request.params[name];
    case "header": {
      const text = request.headers[header!.name.toLowerCase()]?.toLowerCase();
      return text === undefined ? undefined : (TRUTHS.get(text) ?? text);
    }
    case "query": {
      if (place.type === "array") return query.list(name);
      const text = query.one(name);
      if (text === undefined || place.type !== "boolean") return text;
      return isFlag && text === "" ? true : (TRUTHS.get(text) ?? text);
    }
  }
}

/** What a parameter that is true or false is as text. */
const TRUTHS = new Map([
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
    throw invalidParams(`The body cannot be read as JSON: ${cause.message}`, { cause });
  }
}

/** What a JSON body holds; any other body as it is, whatever its type is said to be: command line tools call text a form. */
export async function textOf({ body, headers }: RestRequest): Promise<unknown> {
  if (/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? "")) return parseJson(body ?? Buffer.alloc(0));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (cause) {
    throw invalidParams("The body must be text in UTF-8.", { cause });
  }
}

/** The values of each parameter of a query string: several may be separated by commas, or repeat the name. */
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

  /** Undefined when it is not there. */
  one(name: string): string | undefined {
    const values = this.#values.get(name);
    if (values === undefined) return undefined;
    if (values.length > 1) throw invalidParams(`The parameter "${name}" can be given once only.`);
    return values[0];
  }

  /** Undefined when it is not there. No list is empty: `?id=` holds one value, which is no id. */
  list(name: string): string[] | undefined {
    return this.#values.get(name)?.flatMap((value) => value.split(","));
  }
}

const NO_QUERY = new Query("");

/** What reads the query takes anything else for the characters that it is made of. */
function requirePercentEncoding(query: string): void {
  try {
    decodeURIComponent(query);
  } catch (cause) {
    throw invalidParams("The query of the request is not percent-encoded UTF-8.", { cause });
  }
}
