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

/** The servers in the thread. */
export type ServerName = "json-rpc" | "eth-rpc" | "rest";

export interface ListenOptions {
  host: string;
  /** The port, or 0 for any free port. */
  port: number;
  /** Try the following ports if the port is in use. */
  triesNextPorts?: boolean;
  access?: AccessOptions;
  /** Serve only methods whose names begin with one of these followed by "_". By default all methods are served. */
  namespaces?: readonly string[];
}

/** Configuration for the servers. */
export interface ServeCommand {
  methods: readonly MethodInfo[];
  routes: readonly RouteInfo[];
  listen: { [Name in ServerName]?: ListenOptions };
  /** Static files served at the JSON-RPC server's URL. */
  pages: StaticFilePaths | undefined;
  limits: Partial<JsonRpcLimits> | undefined;
  /** Shared memory with one counter per cache dependency, at `REVISION_INDEXES`. */
  revision: Int32Array;
  /** Methods whose calls a third thread answers once it is connected. */
  direct: DirectMethods | undefined;
  isMeasured: boolean;
  isLogged: boolean;
}

/** A method under one of its names. Calls refer to the method by index. */
export interface MethodInfo {
  calledBy: string;
  name: string;
  cost: CallCost;
  access: AccessClass;
  takesLargeBody: boolean;
  isCacheable: boolean;
  /** Index of the method that returns a list of this method's responses. */
  listedBy: number | undefined;
}

export interface RouteInfo extends Omit<RestRoute, "handle" | "cachePolicy" | "elementOf"> {
  listedBy: number | undefined;
}

/** A stream whose chunks are sent on demand. If there is a descriptor, the server thread produces the stream itself. */
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
   * The shared counters. The first one changes with the head and fork choice, the second one also with the node's
   * status, and the third one with the blocks and states of the EVM.
   */
  readonly memory: Int32Array;
  /** Updates the counters to match the current state. */
  publish(): void;
  /** Calls the listener when a counter has changed. Returns a function that removes the listener. */
  onPublished(listener: () => void): () => void;
}

/** How long a cached response is valid: as long as a revision is unchanged, or always. */
export type Validity = { on: VolatileDependency; revision: number; isPrewarmed: boolean } | "always";

/** This is a tuple because cloning a tuple is twice as fast as cloning an object. */
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
  /** Undefined if there is no format. */
  parts: readonly TransferredBody[] | undefined,
  cacheLifetime: RestResponse["cacheLifetime"],
  tag: RestResponse["tag"],
  /** The topics of a feed. */
  topics: readonly string[] | undefined,
];

export interface ThreadReport {
  loads: { [Name in ServerName]?: ServerLoad };
  calls: CallStats[];
  /** Event loop delay in the thread since the last report that was requested, in seconds. */
  lag: EventLoopLag;
  /** Load from calls that a third thread answers. */
  direct: LaneLoad | undefined;
}

export interface EventLoopLag {
  p50: number;
  p99: number;
  max: number;
}

/** The reply to a request from the main thread. */
export type Outcome = { value: unknown } | { thrown: SerializedError };

export type ToMain =
  /** `params` is JSON. `isIrregular` is undefined if the parameters have not been checked against the limits. */
  | [kind: "call", id: number, method: number, params: string, isIrregular: boolean | undefined]
  /** A call with large parameters whose syntax has not been checked. */
  | [kind: "large call", id: number, method: number, params: Uint8Array, isIrregular: boolean]
  | [kind: "request", id: number, route: number, ...request: TransferredRequest]
  /** Prewarms a call: its response is sent whenever its revision changes. Lists are sent as descriptors. */
  | [kind: "prewarm call", id: number, isList: boolean, method: number, params: string]
  | [kind: "prewarm request", id: number, isList: boolean, route: number, ...request: TransferredRequest]
  | [kind: "stop prewarming", id: number]
  /** Cancels a call or request. */
  | [kind: "cancel", id: number, reason: SerializedError]
  | [kind: "outcome", question: number, outcome: Outcome]
  /** Grants credit for more chunks of a stream. */
  | [kind: "pull", stream: number, chunks: number]
  /** Closes a stream, whether or not it has been read completely. */
  | [kind: "release", stream: number]
  | [kind: "follow", feed: number, topics: readonly string[]]
  | [kind: "readers", feed: number, count: number]
  | [kind: "unfollow", feed: number]
  | [kind: "log", topic: LogTopic | undefined, level: LogLevel, message: string, fields: LogFields | undefined]
  /** Lines for the access log. */
  | [kind: "access", lines: string]
  | [kind: "listening", urls: { [Name in ServerName]?: string }]
  | [kind: "cannot listen", server: ServerName, error: { message: string; code: string | undefined }]
  | [kind: "report", report: ThreadReport]
  /** A cancelled call of a method has not ended in the thread that has this connection. */
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
  /** Subscribes on behalf of a call. */
  | [kind: "subscribe", question: number, call: number, topics: readonly string[]]
  | [kind: "unsubscribe", question: number, call: number, subscription: string]
  | [kind: "chunk", stream: number, bytes: TransferredBytes]
  | [kind: "end", stream: number]
  | [kind: "break", stream: number, thrown: SerializedError]
  /** From now on, all events on the feed are sent. */
  | [kind: "following", feed: number]
  | [kind: "event", feed: number, topic: string, data: TransferredBytes]
  | [kind: "disconnect", feed: number]
  /** Sends the calls of some methods to a third thread through a port. */
  | [kind: "connect", connection: number, port: MessagePort]
  | [kind: "report"]
  | [kind: "close"];
