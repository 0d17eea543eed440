import { ByteVectorType } from "@chainsafe/ssz";
import { routes } from "@lodestar/api";
import type { BeaconConfig } from "@lodestar/config";
import { ssz } from "@lodestar/types";

/** The families into which @lodestar/api sorts the operations of the standard. */
interface Endpoints {
  beacon: routes.beacon.Endpoints;
  validator: routes.validator.Endpoints;
  lightclient: routes.lightclient.Endpoints;
  node: routes.node.Endpoints;
  config: routes.config.Endpoints;
  debug: routes.debug.Endpoints;
}

export type Family = keyof Endpoints;

/** An operation of the standard by its name in @lodestar/api, such as `beacon.getStateRoot`. */
export type OperationId = { [F in Family]: `${F}.${keyof Endpoints[F] & string}` }[Family];

export type EndpointOf<Id extends OperationId> = Id extends `${infer F extends Family}.${infer Name}`
  ? Name extends keyof Endpoints[F]
    ? Endpoints[F][Name]
    : never
  : never;

/** The codecs of every operation, for the forks of a chain. */
export type Codecs = ReturnType<typeof createCodecs>;

export function createCodecs(config: BeaconConfig) {
  writeAddressesInLowerCase();
  return {
    beacon: routes.beacon.getDefinitions(config),
    validator: routes.validator.getDefinitions(config),
    lightclient: routes.lightclient.getDefinitions(config),
    node: routes.node.getDefinitions(config),
    config: routes.config.getDefinitions(config),
    debug: routes.debug.getDefinitions(config),
  };
}

/**
 * Bytes are lower-case hexadecimal wherever the standard has them, and clients compare them as text. The library alone gives
 * execution addresses the capitals of EIP-55, at the price of a hash for each.
 */
function writeAddressesInLowerCase(): void {
  ssz.ExecutionAddress.toJson = ByteVectorType.prototype.toJson;
}

export interface MetaCodec<Meta> {
  toJson(meta: Meta): unknown;
  toHeadersObject(meta: Meta): Record<string, string>;
}

/** The half of a route definition that says how a response is encoded. */
export interface ResponseCodec<Data, Meta> {
  data: {
    toJson(data: Data, meta: Meta): unknown;
    /** Needed where the answer has an SSZ form. */
    serialize?(data: Data, meta: Meta): Uint8Array;
  };
  meta: MetaCodec<Meta>;
  /** Puts data and metadata together in another way than under `data` with the metadata beside it. */
  transform?: { toResponse(data: unknown, meta: unknown): unknown };
  /** Set where the status says everything. */
  isEmpty?: boolean;
}

/** The codec of a first version, which does not tell the fork beside its data. */
export function withoutMeta<Data, Meta>({ data }: ResponseCodec<Data, Meta>): ResponseCodec<Data, Meta> {
  return { data, meta: { toJson: () => ({}), toHeadersObject: () => ({}) } };
}

/** What reads the SSZ body of a request: a route definition's codec gives all arguments of the operation. */
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
