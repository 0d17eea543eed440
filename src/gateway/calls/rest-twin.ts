import { z } from "zod";
import { type Args, bind, type Signature } from "../../api/bind.ts";
import type { Method, RestPath } from "../../api/definition.ts";
import { VERSION_HEADER } from "../../api/params/consensus-version.ts";
import { type Place, placesOf } from "../../api/rest/places.ts";
import { invalidParams } from "../../errors/failure.ts";
import type { Params } from "../../server/method-table.ts";
import { ASKS_FOR_JSON, type Question, type UpstreamRequest } from "../exchange.ts";
import { slotInJson } from "../slot-in-json.ts";
import { paramsIn, RawJson } from "./message-params.ts";

/** The part of a question that follows from the parameters of a call. */
export type TwinRequest = Pick<Question, "request" | "params">;

interface TwinOptions {
  /** The method whose parameters are given. */
  called: Method;
  /** The method that is asked for in its place; the same, unless another stands for it. */
  asked: Method;
  /** One of those of the method that is asked. */
  path: RestPath;
  /** What the query has beside the parameters. */
  query?: Readonly<Record<string, string>>;
  /** The fork of an object of this slot; of the current slot when it is undefined. */
  forkAt(slot: number | undefined): string;
}

const ANYTHING = z.unknown();

/** Makes a REST request of a JSON-RPC call. */
export class RestTwin {
  readonly #options: TwinOptions;
  readonly #places: readonly Place[];
  /** What stands in the path by turns: itself, and the name of a parameter. */
  readonly #path: readonly string[];
  readonly #signature: Signature;
  readonly #mustNameFork: boolean;

  constructor(options: TwinOptions) {
    this.#options = options;
    const { called, asked, path } = options;
    this.#places = placesOf(called.params, path);
    this.#path = path.path.split(/\{(\w+)\}/);
    const { name, sameAs, arrange } = called;
    // Whoever takes a body reads it anyway, and says what is wrong with it.
    const isPassed = ({ from }: Place) => from === "body" && !path.takesText;
    const params = this.#places.map((place) => (isPassed(place) ? { ...place.param, schema: ANYTHING } : place.param));
    this.#signature = { name: sameAs ?? name, params, arrange };
    this.#mustNameFork = asked.params.some(({ header }) => header?.name === VERSION_HEADER && header.isRequired);
  }

  /** Throws what is wrong with the parameters, in the words of a node. There is a promise only where a list is long. */
  requestFor(params: Params): TwinRequest | Promise<TwinRequest> {
    const args = bind(this.#signature, params);
    return args instanceof Promise ? args.then((bound) => this.#encode(bound)) : this.#encode(args);
  }

  /** The parameters of a call in a long message, of which the one that becomes the body is not read. */
  paramsIn(message: Uint8Array): Params {
    const position = this.#places.findIndex(({ from }) => from === "body");
    const body = this.#signature.arrange || this.#options.path.takesText ? undefined : this.#places[position]?.param;
    return paramsIn(message, (key) => {
      if (body === undefined || typeof key === "string") return key === body?.name;
      return body.each ? key >= position : key === position;
    });
  }

  #encode(args: Args): TwinRequest {
    const { path: asked, query: more } = this.#options;
    // Most calls need none, and to make one costs more than all else here.
    let query = more && new URLSearchParams(more);
    let headers = ASKS_FOR_JSON;
    const params: Record<string, string> = {};
    let body: Buffer | undefined;
    for (const { param, from, type } of this.#places) {
      const { name, key, header, isFlag } = param;
      const value = args[key];
      if (from === "body") {
        // Not every node takes it for an empty list when there is no body.
        const given = value === undefined && type === "array" ? [] : value;
        if (given === undefined) continue;
        body = asked.takesText ? Buffer.from(textOf(given)) : jsonOf(given);
        headers = { ...headers, "content-type": asked.takesText ? "text/plain" : "application/json" };
      } else if (value === undefined) {
        // It is left out there, too.
      } else if (from === "path") {
        params[name] = textOf(value);
        requirePlain(name, params[name]);
      } else if (from === "header") {
        headers = { ...headers, [header!.name.toLowerCase()]: textOf(value) };
      } else if (isFlag) {
        if (value !== true) continue;
        query ??= new URLSearchParams();
        query.set(name, "");
      } else {
        const values = Array.isArray(value) ? value.map(textOf) : [textOf(value)];
        if (values.length > 0) params[name] = values.join(",");
        query ??= new URLSearchParams();
        for (const each of values) query.append(name, each);
      }
    }
    if (this.#mustNameFork && headers[FORK] === undefined) {
      headers = { ...headers, [FORK]: this.#options.forkAt(body && slotInJson(body)) };
    }
    let path = this.#path[0]!;
    for (let at = 1; at < this.#path.length; at += 2) path += params[this.#path[at]!]! + this.#path[at + 1]!;
    const url = query === undefined || query.size === 0 ? path : `${path}?${query}`;
    const request: UpstreamRequest = { verb: asked.verb, url, headers };
    return { request: body === undefined ? request : { ...request, body }, params };
  }
}

const FORK = VERSION_HEADER.toLowerCase();

function jsonOf(value: unknown): Buffer {
  if (value instanceof RawJson) return value.bytes;
  const isRaw = Array.isArray(value) && value.some((item) => item instanceof RawJson);
  return isRaw ? RawJson.listOf(value.map(rawOf)) : Buffer.from(JSON.stringify(value));
}

function rawOf(item: unknown): RawJson {
  return item instanceof RawJson ? item : new RawJson(Buffer.from(JSON.stringify(item)));
}

/** As REST writes what the schemas make of parameters. */
function textOf(value: unknown): string {
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString("hex")}` : String(value);
}

/** No id that is asked for has anything else in it, and somebody on the way might take it for another path. */
export function requirePlain(name: string, value: string): void {
  if (!/^[\w-]+$/.test(value)) {
    throw invalidParams(`The parameter "${name}" must consist of letters, digits, hyphens and underscores.`);
  }
}
