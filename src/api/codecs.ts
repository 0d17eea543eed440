import type { routes } from "@lodestar/api";
import type { createCodecs } from "./create-codecs.ts";

/** Operations of @lodestar/api by namespace. */
interface Endpoints {
  beacon: routes.beacon.Endpoints;
  validator: routes.validator.Endpoints;
  lightclient: routes.lightclient.Endpoints;
  node: routes.node.Endpoints;
  config: routes.config.Endpoints;
  debug: routes.debug.Endpoints;
}

export type Family = keyof Endpoints;

/** Name of an operation in @lodestar/api, such as `beacon.getStateRoot`. */
export type OperationId = { [F in Family]: `${F}.${keyof Endpoints[F] & string}` }[Family];

export type EndpointOf<Id extends OperationId> = Id extends `${infer F extends Family}.${infer Name}`
  ? Name extends keyof Endpoints[F]
    ? Endpoints[F][Name]
    : never
  : never;

/** Codecs of all operations, for the forks of a chain. */
export type Codecs = ReturnType<typeof createCodecs>;

export interface MetaCodec<Meta> {
  toJson(meta: Meta): unknown;
  toHeadersObject(meta: Meta): Record<string, string>;
}

/** Response encoding for a route definition. */
export interface ResponseCodec<Data, Meta> {
  data: {
    toJson(data: Data, meta: Meta): unknown;
    /** Required if the response supports SSZ. */
    serialize?(data: Data, meta: Meta): Uint8Array;
  };
  meta: MetaCodec<Meta>;
  /**
   * Combines data and metadata in a format specific to the operation. By default they are `data` and metadata members.
   */
  transform?: { toResponse(data: unknown, meta: unknown): unknown };
  /** True if the response has no body. */
  isEmpty?: boolean;
}

/** Returns the codec for the first version of an operation, which does not return the fork of its data. */
export function withoutMeta<Data, Meta>({ data }: ResponseCodec<Data, Meta>): ResponseCodec<Data, Meta> {
  return { data, meta: { toJson: () => ({}), toHeadersObject: () => ({}) } };
}

/** Parses the SSZ body of a request into arguments for the operation. */
export interface RequestCodec {
  parseReqSsz?(request: {
    params: Record<string, unknown>;
    query: Record<string, unknown>;
    headers: Record<string, string | undefined>;
    body: Uint8Array;
  }): unknown;
}

export interface RouteCodec {
  req: RequestCodec;
  resp: ResponseCodec<unknown, unknown>;
}

export function codecOf(codecs: Codecs, operation: OperationId): RouteCodec {
  const [family, name] = operation.split(".") as [Family, string];
  return (codecs[family] as unknown as Record<string, RouteCodec>)[name]!;
}
