import type { FailureKind, ItemFailure } from "../../errors/failure.ts";
import type { StreamDescriptor } from "../../json/shared-stream.ts";
import type { LogFields, LogLevel, LogTopic } from "../../log/logger.ts";
import type { AccessClass } from "../access-class.ts";
import type { CallTally } from "../call-tallies.ts";
import type { AccessOptions } from "../http/access-policy.ts";
import type { Format } from "../http/negotiation.ts";
import type { PageFiles } from "../http/pages.ts";
import type { ServerLoad } from "../http/server.ts";
import type { JsonRpcLimits } from "../jsonrpc/limits.ts";
import type { Cost, Dependence } from "../method-table.ts";
import type { RequestParts, RestAnswer, RestRoute } from "../rest/route-table.ts";

/** What the main thread and that of the servers tell each other. Messages arrive in the order in which they were sent. */

/** The servers that run in the thread. */
export type ServerName = "json-rpc" | "rest";

export interface ListenOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  access?: AccessOptions;
}

/** All that the thread has to know to serve. */
export interface ServingOrder {
  methods: readonly MethodFacts[];
  routes: readonly RouteFacts[];
  listen: { [Name in ServerName]?: ListenOptions };
  /** What browsers are shown at the address of JSON-RPC. */
  pages: PageFiles | undefined;
  limits: Partial<JsonRpcLimits> | undefined;
  /** The numbers in it are other ones whenever what answers depend on has changed: at `REVISION_PLACES`. */
  revision: Int32Array;
  /** Whether calls are observed. */
  isMeasured: boolean;
  /** Whether there is an access log. */
  isLogged: boolean;
}

/** A method as it is called by one of its names; calls of it name its position in the order. */
export interface MethodFacts {
  calledBy: string;
  name: string;
  cost: Cost;
  access: AccessClass;
  takesLargeBody: boolean;
  isCacheable: boolean;
  /** The position of the method that lists its answers. */
  listedBy: number | undefined;
}

export interface RouteFacts extends Omit<RestRoute, "handle" | "cachePolicy" | "elementOf"> {
  listedBy: number | undefined;
}

/** Short bytes as a text with a character for each, which costs less to pass on; longer ones in memory of their own. */
export type PassedBytes = string | Uint8Array;

/** A stream whose chunks are sent as they are asked for, or one that the thread makes itself. */
export interface PassedStream {
  stream: number;
  descriptor?: StreamDescriptor;
}

export type PassedBody = PassedBytes | PassedStream;

/** Something that was thrown. */
export type Thrown =
  | { failure: FailureKind; message: string; detail?: string; failures?: ItemFailure[] }
  | { status: number; message: string; headers: Record<string, string> }
  | { unreadable: string }
  | { unexpected: string; stack: string };

/** What an answer depends on that can change. */
type Changing = Exclude<Dependence, "nothing">;

/** Where in the memory of the revision the number stands that tells of changes. */
export const REVISION_PLACES: Readonly<Record<Changing, number>> = { head: 0, status: 1 };

/** How the servers see that what they were told is true no longer. */
export interface PublishedRevision {
  /**
   * The first number in it is another one whenever the head has changed, or what fork choice says of a block; the second one also
   * whenever the status of the node has.
   */
  readonly memory: Int32Array;
  /** Changes the numbers for all that has changed by now. */
  publish(): void;
  /** Calls the listener when a number has changed; returns the function that ends it. */
  onPublished(listener: () => void): () => void;
}

/** How long a cached answer is valid: while a revision stays the same, or always. */
export type Validity = { on: Changing; revision: number; isPreparedAhead: boolean } | "always";

/** A list, as what answers it is: an object takes the threads twice as long to pass on. */
export type PassedRequest = [
  url: string,
  params: RequestParts["params"],
  /** Undefined for none that say something of what is asked. */
  headers: RequestParts["headers"] | undefined,
  format: RequestParts["format"],
  body: PassedBytes | undefined,
];

export type PassedRestAnswer = [
  status: number,
  headers: RestAnswer["headers"],
  format: Format | undefined,
  /** Undefined when there is no format. */
  parts: readonly PassedBody[] | undefined,
  lasting: RestAnswer["lasting"],
  tag: RestAnswer["tag"],
  /** Of a feed. */
  topics: readonly string[] | undefined,
];

export interface ThreadReport {
  loads: { [Name in ServerName]?: ServerLoad };
  calls: CallTally[];
  /** How late the event loop of the thread was since a report was last asked for, in seconds. */
  lag: EventLoopLag;
}

export interface EventLoopLag {
  p50: number;
  p99: number;
  max: number;
}

/** How a question to the other side ended. */
export type Outcome = { value: unknown } | { thrown: Thrown };

export type ToMain =
  /** With the JSON of the parameters: a text, or the bytes of a long one. */
  | [kind: "call", id: number, method: number, params: string | Uint8Array]
  /** The same, with parameters that are a member of the message. */
  | [kind: "message", id: number, method: number, message: PassedBytes]
  | [kind: "request", id: number, route: number, ...request: PassedRequest]
  /** Is to be answered whenever the answer is another one. Of a list, only a descriptor is wanted. */
  | [kind: "renew call", id: number, isList: boolean, method: number, params: string]
  | [kind: "renew request", id: number, isList: boolean, route: number, ...request: PassedRequest]
  | [kind: "renew no more", id: number]
  /** Nobody waits for the call or request any more. */
  | [kind: "cancel", id: number, reason: Thrown]
  | [kind: "outcome", question: number, outcome: Outcome]
  /** So many more chunks of a stream may be sent. */
  | [kind: "pull", stream: number, chunks: number]
  /** Nobody wants the rest of a stream, or all of it was read. */
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
  | [kind: "closed"];

export type ToThread =
  | [kind: "serve", order: ServingOrder]
  | [
      kind: "answer",
      id: number,
      body: PassedBody,
      meta: Record<string, unknown> | undefined,
      headers: Record<string, string> | undefined,
      validity: Validity | undefined,
    ]
  | [kind: "rest answer", id: number, validity: Validity | undefined, ...answer: PassedRestAnswer]
  | [kind: "thrown", id: number, thrown: Thrown]
  /** On behalf of a call. */
  | [kind: "subscribe", question: number, call: number, topics: readonly string[]]
  | [kind: "unsubscribe", question: number, call: number, subscription: string]
  | [kind: "chunk", stream: number, bytes: PassedBytes]
  | [kind: "end", stream: number]
  | [kind: "break", stream: number, thrown: Thrown]
  /** From now on all events of a feed are told. */
  | [kind: "following", feed: number]
  | [kind: "event", feed: number, topic: string, data: PassedBytes]
  | [kind: "cut off", feed: number]
  | [kind: "report"]
  | [kind: "close"];

type FieldsOf<Message> = Message extends [unknown, ...infer Fields] ? Fields : never;

/** What is done about each kind of message. */
export type Handlers<Message extends [kind: string, ...unknown[]]> = {
  [Kind in Message[0]]: (...fields: FieldsOf<Extract<Message, [Kind, ...unknown[]]>>) => void;
};

export function handle<Message extends [kind: string, ...unknown[]]>(
  handlers: Handlers<Message>,
  messages: readonly Message[],
): void {
  for (const message of messages) handleOne(handlers, message);
}

export function handleOne<Message extends [kind: string, ...unknown[]]>(
  handlers: Handlers<Message>,
  [kind, ...fields]: Message,
): void {
  // The type of the handlers says that the fields are those of the kind.
  (handlers[kind as Message[0]] as (...given: unknown[]) => void)(...fields);
}
