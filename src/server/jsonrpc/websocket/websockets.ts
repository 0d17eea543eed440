import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Logger } from "../../../log/logger.ts";
import { ServerResponse } from "../../../runtime/node-http.ts";
import type { AccessClass } from "../../access-class.ts";
import type { AccessPolicy } from "../../http/access-policy.ts";
import { Deadlines } from "../../http/deadline.ts";
import type { Exchanges } from "../../http/exchanges.ts";
import { reportThrown } from "../../http/refusal.ts";
import { sendRefusal } from "../../http/send.ts";
import type { HttpLimits } from "../../http/server.ts";
import type { Execute } from "../execute.ts";
import { Connection, type ConnectionLimits, type RecordMessage } from "./connection.ts";
import { SubscriptionCount } from "./subscriptions.ts";

export interface WebSocketLimits extends ConnectionLimits {
  connections: number;
  /** How many subscriptions there may be at once, on all connections together. */
  allSubscriptions: number;
  /** In how many parts a message may come: each takes memory, however small it is. */
  fragments: number;
  /** How often each client is asked for a sign of life. */
  checkMillis: number;
}

interface WebSocketsOptions {
  execute: Execute;
  policy: AccessPolicy;
  logger: Logger;
  /** What the messages of all clients take of the node's memory until they are answered counts there. */
  exchanges: Exchanges;
  /** Is asked for what the access log tells of each message; left out when there is none. */
  record?: RecordMessage | undefined;
  httpLimits: Pick<HttpLimits, "bodyBytes" | "requestMillis" | "connections">;
  limits?: Partial<WebSocketLimits>;
}

interface WebSockets {
  /** Takes over the connection of an upgrade request. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Accepts nothing more, lets running calls finish, then takes leave of every client. */
  close(): Promise<void>;
}

const DEFAULT_LIMITS: Omit<WebSocketLimits, "connections" | "allSubscriptions" | "incompleteBytes"> = {
  // The largest message in parts of 16 KiB.
  fragments: 2048,
  subscriptions: 32,
  // About two slots of all attestations of a large network would be more than this; a reader of
  // anything less has minutes.
  eventBytes: 8 * 1024 * 1024,
  runningMessages: 16,
  checkMillis: 30_000,
  leaveMillis: 2_000,
  lastWordsMillis: 30_000,
};

/** How long a client whose upgrade is refused has to read why. */
const REFUSAL_MILLIS = 2_000;

export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

export function createWebSockets(options: WebSocketsOptions): WebSockets {
  const { execute, policy, logger, exchanges, record, httpLimits, limits: given } = options;
  // Every event goes to each of them, whether on a connection of its own or not.
  const { connections: most } = httpLimits;
  // The longest message, in packets as small as they are on any way.
  const incompleteBytes = 3 * httpLimits.bodyBytes;
  const limits = { ...DEFAULT_LIMITS, connections: most, allSubscriptions: most, incompleteBytes, ...given };
  const subscriptionCount = new SubscriptionCount(limits.allSubscriptions);
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: httpLimits.bodyBytes,
    maxFragments: limits.fragments,
    // A connection gives at most one message in a turn of the event loop, however many it has sent.
    allowSynchronousEvents: false,
    autoPong: false,
    perMessageDeflate: false,
  });
  const connections = new Set<Connection>();
  const deadlines = new Deadlines(httpLimits.requestMillis);
  let closing: Promise<void> | undefined;
  const checks = setInterval(() => {
    for (const connection of connections) connection.check();
  }, limits.checkMillis);
  // Whoever forgets to close a server that never listened must not be kept alive by it.
  checks.unref();

  function accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    try {
      policy.admit(request);
    } catch (refusal) {
      const { status, message, headers } = reportThrown(refusal);
      refuse(request, socket, status, message, headers);
      return;
    }
    if (closing) {
      refuse(request, socket, 503, "The node is shutting down.");
    } else if (connections.size >= limits.connections) {
      refuse(request, socket, 503, `There are ${limits.connections} WebSocket connections already.`);
    } else {
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const isPrivileged = policy.isPrivileged(request);
        const refusal = (access: AccessClass) => policy.refusal(access, isPrivileged);
        const connection = new Connection(webSocket, {
          execute,
          record,
          refusal,
          logger,
          limits,
          deadlines,
          subscriptionCount,
          socket: request.socket,
          budget: exchanges.requestBytes,
          unread: exchanges.answerBytes,
        });
        connections.add(connection);
        void connection.closed.then(() => connections.delete(connection));
      });
    }
  }

  async function shutDown(): Promise<void> {
    await Promise.all([...connections].map((connection) => connection.close()));
    clearInterval(checks);
  }

  return {
    accept,
    close: () => {
      closing ??= shutDown();
      return closing;
    },
  };
}

function refuse(
  request: IncomingMessage,
  socket: Duplex,
  status: number,
  message: string,
  headers?: Record<string, string>,
): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  const impatience = setTimeout(() => socket.destroy(), REFUSAL_MILLIS);
  response.once("finish", () => (socket as Socket).destroySoon());
  socket.once("close", () => clearTimeout(impatience));
  socket.on("error", () => socket.destroy());
  sendRefusal(response, status, message, headers);
}
