import { z } from "zod";
import { type Args, bind, type Signature } from "../../api/bind.ts";
import type { MethodDefinition, RestPath } from "../../api/definition.ts";
import { VERSION_HEADER } from "../../api/params/consensus-version.ts";
import { locateParams, type ParamLocation } from "../../api/rest/param-locations.ts";
import { invalidParams } from "../../errors/failure.ts";
import type { Params } from "../../server/method-table.ts";
import { slotInJson } from "../upstream/selection/slot-in-json.ts";
import { ACCEPT_JSON, type UpstreamCall, type UpstreamRequest } from "../upstream/upstream-call.ts";
import { parseParams, RawJson } from "./raw-params.ts";

/** The part of an upstream call that follows from the parameters. */
export type BuiltRequest = Pick<UpstreamCall, "request" | "params">;

interface RestRequestBuilderOptions {
  /** The method that the client called. */
  called: MethodDefinition;
  /** The method whose REST path is requested. By default the same. */
  operation: MethodDefinition;
  /** A REST path of `operation`. */
  path: RestPath;
  /** Additional query parameters. */
  query?: Readonly<Record<string, string>>;
  /** Returns the fork at a slot, by default the current one. */
  forkAt(slot: number | undefined): string;
}

const ANYTHING = z.unknown();

/** Builds the REST request for a JSON-RPC call. */
export class RestRequestBuilder {
  readonly #options: RestRequestBuilderOptions;
  readonly #locations: readonly ParamLocation[];
  /** Literal parts and parameter names of the path, alternating. */
  readonly #path: readonly string[];
  readonly #signature: Signature;
  readonly #requiresForkHeader: boolean;

  constructor(options: RestRequestBuilderOptions) {
    this.#options = options;
    const { called, operation, path } = options;
    this.#locations = locateParams(called.params, path);
    this.#path = path.path.split(/\{(\w+)\}/);
    const { name, sameAs, normalizePositional } = called;
    // Bodies are not validated here: the upstream validates them anyway.
    const isUnchecked = ({ from }: ParamLocation) => from === "body" && !path.takesText;
    const params = this.#locations.map((location) =>
      isUnchecked(location) ? { ...location.param, schema: ANYTHING } : location.param,
    );
    this.#signature = { name: sameAs ?? name, params, normalizePositional };
    this.#requiresForkHeader = operation.params.some(
      ({ header }) => header?.name === VERSION_HEADER && header.isRequired,
    );
  }

  /** Throws the invalid-params failure that a node would return. Returns a promise only for long lists. */
  build(params: Params): BuiltRequest | Promise<BuiltRequest> {
    const args = bind(this.#signature, params);
    return args instanceof Promise ? args.then((bound) => this.#encode(bound)) : this.#encode(args);
  }

  /** Parses large parameters. The one that becomes the request body stays unparsed. */
  parseParams(json: Buffer): Params {
    const position = this.#locations.findIndex(({ from }) => from === "body");
    const body =
      this.#signature.normalizePositional || this.#options.path.takesText
        ? undefined
        : this.#locations[position]?.param;
    return parseParams(json, (key) => {
      if (body === undefined || typeof key === "string") return key === body?.name;
      return body.each ? key >= position : key === position;
    });
  }

  #encode(args: Args): BuiltRequest {
    const { path: operation, query: extraQuery } = this.#options;
    // Created lazily, because `URLSearchParams` is slow and most calls have no query.
    let query = extraQuery && new URLSearchParams(extraQuery);
    let headers = ACCEPT_JSON;
    const params: Record<string, string> = {};
    let body: Buffer | undefined;
    for (const { param, from, type } of this.#locations) {
      const { name, key, header, isFlag } = param;
      const value = args[key];
      if (from === "body") {
        // Not every client accepts a missing body as an empty list.
        const content = value === undefined && type === "array" ? [] : value;
        if (content === undefined) continue;
        body = operation.takesText ? Buffer.from(textOf(content)) : encodeBody(content);
        headers = { ...headers, "content-type": operation.takesText ? "text/plain" : "application/json" };
      } else if (value === undefined) {
        // Optional.
      } else if (from === "path") {
        params[name] = textOf(value);
        requirePathSafe(name, params[name]);
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
    if (this.#requiresForkHeader && headers[FORK_HEADER] === undefined) {
      headers = { ...headers, [FORK_HEADER]: this.#options.forkAt(body && slotInJson(body)) };
    }
    for (const { param } of this.#locations) {
      const { name, inferFrom } = param.header ?? {};
      if (body === undefined || inferFrom === undefined || args[param.key] !== undefined) continue;
      headers = { ...headers, [name!.toLowerCase()]: inferFrom(body) };
    }
    let path = this.#path[0]!;
    for (let at = 1; at < this.#path.length; at += 2) path += params[this.#path[at]!]! + this.#path[at + 1]!;
    const url = query === undefined || query.size === 0 ? path : `${path}?${query}`;
    const request: UpstreamRequest = { verb: operation.verb, url, headers };
    return { request: body === undefined ? request : { ...request, body }, params };
  }
}

const FORK_HEADER = VERSION_HEADER.toLowerCase();

function encodeBody(value: unknown): Buffer {
  if (value instanceof RawJson) return value.bytes;
  const isRaw = Array.isArray(value) && value.some((item) => item instanceof RawJson);
  return isRaw ? RawJson.concatLists(value.map(rawOf)) : Buffer.from(JSON.stringify(value));
}

function rawOf(item: unknown): RawJson {
  return item instanceof RawJson ? item : new RawJson(Buffer.from(JSON.stringify(item)));
}

/** Formats a parsed parameter for a URL. */
function textOf(value: unknown): string {
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString("hex")}` : String(value);
}

/** Rejects path parameters with special characters, which a proxy could interpret as another path. */
export function requirePathSafe(name: string, value: string): void {
  if (!/^[\w-]+$/.test(value)) {
    throw invalidParams(`The parameter "${name}" must consist of letters, digits, hyphens and underscores.`);
  }
}
