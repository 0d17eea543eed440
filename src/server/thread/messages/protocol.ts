import type { MessagePort } from "node:worker_threads";
import type { StreamDescriptor } from "../../../json/shared-stream.ts";
import type { LogFields, LogLevel, LogTopic } from "../../../log/logger.ts";
import type { SerializedError } from "../../../threads/error-registry.ts";
import type { TransferredBytes } from "../../../threads/transferred-bytes.ts";
import type { AccessClass } from "../../access-class.ts";
import type { CallStats } from "../../call-stats.ts";
import type { AccessOptions } from "../../http/access/access-policy.ts";
import type { Format } from "../../http/response/negotiation.ts";
import type { StaticFilePaths } from "../../http/response/static-files.ts";
import type { ServerLoad } from "../../http/server.ts";
import type { JsonRpcLimits } from "../../jsonrpc/limits.ts";
import type { LaneLoad } from "../../lane.ts";
import type { CacheDependency, CallCost } from "../../method-table.ts";
import type { RestRequest, RestResponse, RestRoute } from "../../rest/route-table.ts";
import type { DirectMethods } from "../direct/method-thread.ts";

/** Messages between the main thread and the server thread. They arrive in order. */

/** Servers in the thread. */
export type ServerName = "json-rpc" | "eth-rpc" | "rest";

export interface ListenOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** Uses the next free port if the port is in use. */
  triesNextPorts?: boolean;
  access?: AccessOptions;
  /** Serves only methods whose names begin with one of these and "_". Default: all methods. */
  namespaces?: readonly string[];
}

/** Configuration of the servers. */
export interface ServeCommand {
  methods: readonly MethodInfo[];
  routes: readonly RouteInfo[];
  listen: { [Name in ServerName]?: ListenOptions };
  /** Static files at the URL of JSON-RPC. */
  pages: StaticFilePaths | undefined;
  limits: Partial<JsonRpcLimits> | undefined;
  /** Shared memory with a counter per cache dependency, at `REVISION_INDEXES`. */
  revision: Int32Array;
  /** Methods that a third thread answers once it is connected. */
  direct: DirectMethods | undefined;
  isMeasured: boolean;
  isLogged: boolean;
}

/** A method under one of its names. Calls refer to its index. */
export interface MethodInfo {
  calledBy: string;
  name: string;
  cost: CallCost;
  access: AccessClass;
  takesLargeBody: boolean;
  isCacheable: boolean;
  /** Index of the method that returns the list of its responses. */
  listedBy: number | undefined;
}

export interface RouteInfo extends Omit<RestRoute, "handle" | "cachePolicy" | "elementOf"> {
  listedBy: number | undefined;
}

/** A stream whose chunks are sent on demand. With a descriptor, the server thread produces the stream itself. */
export interface TransferredStream {
  stream: number;
  descriptor?: StreamDescriptor;
}

export type TransferredBody = TransferredBytes | TransferredStream;

/** Dependencies that can change. */
type VolatileDependency = Exclude<CacheDependency, "nothing">;

/** Index of each revision counter in the shared memory. */
export const REVISION_INDEXES: Readonly<Record<VolatileDependency, number>> = { head: 0, status: 1, evm: 2 };

/** Revision counters that invalidate cached responses. */
export interface PublishedRevision {
  /**
   * Shared counters. The first changes with the head and fork choice, the second also with the node's status, the third
   * with the blocks and states of the EVM.
   */
  readonly memory: Int32Array;
  /** Updates the counters to the current state. */
  publish(): void;
  /** Calls the listener when a counter has changed. Returns a function that removes it. */
  onPublished(listener: () => void): () => void;
}

/** How long a cached response is valid: while a revision is unchanged, or always. */
export type Validity = { on: VolatileDependency; revision: number; isPrewarmed: boolean } | "always";

/** A tuple, because it is cloned twice as fast as an object. */
export type TransferredRequest = [
  url: string,
  params: RestRequest["params"],
  /** Undefined if no route reads any of the headers. */
  headers: RestRequest["headers"] | undefined,
  format: RestRequest["format"],
  body: TransferredBytes | undefined,
];

export type TransferredRestResponse = [
  status: number,
  headers: RestResponse["headers"],
  format: Format | undefined,
  /** Undefined without a format. */
  parts: readonly TransferredBody[] | undefined,
  cacheLifetime: RestResponse["cacheLifetime"],
  tag: RestResponse["tag"],
  /** Topics of a feed. */
  topics: readonly string[] | undefined,
];

export interface ThreadReport {
  loads: { [Name in ServerName]?: ServerLoad };
  calls: CallStats[];
  /** Event loop delay of the thread since the last requested report, in seconds. */
  lag: EventLoopLag;
  /** Load of calls that a third thread answers. */
  direct: LaneLoad | undefined;
}

export interface EventLoopLag {
  p50: number;
  p99: number;
  max: number;
}

/** Reply to a request of the main thread. */
export type Outcome = { value: unknown } | { thrown: SerializedError };

export type ToMain =
  /** JSON of the parameters. `isIrregular` is undefined if its limits have not been checked. */
  | [kind: "call", id: number, method: number, params: string, isIrregular: boolean | undefined]
  /** A call with large parameters, whose syntax has not been checked. */
  | [kind: "large call", id: number, method: number, params: Uint8Array, isIrregular: boolean]
  | [kind: "request", id: number, route: number, ...request: TransferredRequest]
  /** Prewarm a call: send its response whenever its revision changes. Lists are sent as descriptors. */
  | [kind: "prewarm call", id: number, isList: boolean, method: number, params: string]
  | [kind: "prewarm request", id: number, isList: boolean, route: number, ...request: TransferredRequest]
  | [kind: "stop prewarming", id: number]
  /** Cancel a call or request. */
  | [kind: "cancel", id: number, reason: SerializedError]
  | [kind: "outcome", question: number, outcome: Outcome]
  /** Grant credit for more chunks of a stream. */
  | [kind: "pull", stream: number, chunks: number]
  /** Close a stream, read completely or not. */
  | [kind: "release", stream: number]
  | [kind: "follow", feed: number, topics: readonly string[]]
  | [kind: "readers", feed: number, count: number]
  | [kind: "unfollow", feed: number]
  | [kind: "log", topic: LogTopic | undefined, level: LogLevel, message: string, fields: LogFields | undefined]
  /** Lines of the access log. */
  | [kind: "access", lines: string]
  | [kind: "listening", urls: { [Name in ServerName]?: string }]
  | [kind: "cannot listen", server: ServerName, error: { message: string; code: string | undefined }]
  | [kind: "report", report: ThreadReport]
  /** A cancelled call of a method has not ended in the thread with that connection. */
  | [kind: "stuck", connection: number, method: string]
  | [kind: "closed"];

export type ToThread =
  | [kind: "serve", command: ServeCommand]
  | [
      kind: "response",
      id: number,
      body: TransferredBody,
      meta: Record<string, unknown> | undefined,
      headers: Record<string, string> | undefined,
      validity: Validity | undefined,
    ]
  | [kind: "rest response", id: number, validity: Validity | undefined, ...answer: TransferredRestResponse]
  | [kind: "thrown", id: number, thrown: SerializedError]
  /** Subscribe on behalf of a call. */
  | [kind: "subscribe", question: number, call: number, topics: readonly string[]]
  | [kind: "unsubscribe", question: number, call: number, subscription: string]
  | [kind: "chunk", stream: number, bytes: TransferredBytes]
  | [kind: "end", stream: number]
  | [kind: "break", stream: number, thrown: SerializedError]
  /** All events of the feed are sent from now on. */
  | [kind: "following", feed: number]
  | [kind: "event", feed: number, topic: string, data: TransferredBytes]
  | [kind: "disconnect", feed: number]
  /** Send the calls of some methods through a port to a third thread. */
  | [kind: "connect", connection: number, port: MessagePort]
  | [kind: "report"]
  | [kind: "close"];
