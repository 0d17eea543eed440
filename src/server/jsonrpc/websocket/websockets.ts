import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { Logger } from "../../../log/logger.ts";
import { ServerResponse } from "../../../runtime/node-http.ts";
import type { AccessPolicy } from "../../http/access/access-policy.ts";
import type { ApiClient } from "../../http/access/api-clients.ts";
import type { ConnectionManager, RecordFactory } from "../../http/connection-manager.ts";
import { DeadlineTimer } from "../../http/deadline.ts";
import { toErrorResponse } from "../../http/http-error.ts";
import { sendError } from "../../http/response/send.ts";
import type { HttpLimits } from "../../http/server.ts";
import type { Execute } from "../execute.ts";
import { Connection, type ConnectionLimits } from "./connection.ts";
import { SubscriptionCount } from "./subscriptions.ts";

export interface WebSocketLimits extends ConnectionLimits {
  connections: number;
  /** Maximum total number of subscriptions over all connections. */
  allSubscriptions: number;
  /** Maximum number of fragments per message, since every fragment costs memory. */
  fragments: number;
  /** Interval between keep-alive pings. */
  pingMillis: number;
}

interface WebSocketsOptions {
  execute: Execute;
  policy: AccessPolicy;
  logger: Logger;
  /** Provides the memory budgets shared by HTTP requests and WebSocket messages. */
  connectionManager: ConnectionManager;
  /** Creates access log records for messages. Undefined if there is no access log. */
  record?: RecordFactory | undefined;
  httpLimits: Pick<HttpLimits, "bodyBytes" | "requestMillis" | "connections">;
  limits?: Partial<WebSocketLimits>;
}

interface WebSockets {
  /** Upgrades a connection. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Stops accepting connections, waits for running calls, and then closes all connections. */
  close(): Promise<void>;
}

const DEFAULT_LIMITS: Omit<WebSocketLimits, "connections" | "allSubscriptions" | "incompleteBytes"> = {
  // Enough for the largest message in fragments of 16 KiB.
  fragments: 2048,
  subscriptions: 32,
  // Less than two slots' worth of all attestations on a large network. For other topics, several minutes' worth of
  // events.
  eventBytes: 8 * 1024 * 1024,
  runningMessages: 16,
  pingMillis: 30_000,
  closeHandshakeMillis: 2_000,
  disconnectMillis: 30_000,
};

/** How long a client may take to read the error response to its upgrade request. */
const ERROR_RESPONSE_MILLIS = 2_000;

const MESSAGE_TOO_LARGE = 1009;

/** Returns a WebSocket class whose close reason names the message size limit. */
function socketWithLimit(bytes: number): typeof WebSocket {
  const reason = `A message is larger than ${bytes} bytes (--max-body-bytes).`;
  return class extends WebSocket {
    override close(code?: number, data?: string | Buffer): void {
      super.close(code, data ?? (code === MESSAGE_TOO_LARGE ? reason : undefined));
    }
  };
}

export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

export function createWebSockets(options: WebSocketsOptions): WebSockets {
  const { execute, policy, logger, connectionManager, record, httpLimits, limits: overrides } = options;
  // Every event is sent to each subscription, so subscriptions are limited in the same way as connections.
  const { connections: maxConnections } = httpLimits;
  // Enough for the longest message if it arrives in the smallest common packets.
  const incompleteBytes = 3 * httpLimits.bodyBytes;
  const limits = {
    ...DEFAULT_LIMITS,
    connections: maxConnections,
    allSubscriptions: maxConnections,
    incompleteBytes,
    ...overrides,
  };
  const subscriptionCount = new SubscriptionCount(limits.allSubscriptions);
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: httpLimits.bodyBytes,
    WebSocket: socketWithLimit(httpLimits.bodyBytes),
    maxFragments: limits.fragments,
    // Emits at most one message per connection and event loop turn.
    allowSynchronousEvents: false,
    autoPong: false,
    perMessageDeflate: false,
  });
  const connections = new Set<Connection>();
  const deadlines = new DeadlineTimer(httpLimits.requestMillis);
  let closing: Promise<void> | undefined;
  const checks = setInterval(() => {
    for (const connection of connections) connection.checkAlive();
  }, limits.pingMillis);
  // A server that has never listened must not keep the process alive.
  checks.unref();
  policy.onAccessChange(() => {
    const closed = [...connections].filter((connection) => connection.closeIfRevoked());
    if (closed.length > 0) logger.info("Closed WebSocket connections without access", { connections: closed.length });
  });

  function accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    let client: ApiClient | undefined;
    try {
      policy.hideKey(request);
      client = policy.authorize(request);
    } catch (error) {
      const { status, message, headers } = toErrorResponse(error);
      rejectUpgrade(request, socket, status, message, headers);
      return;
    }
    if (closing) {
      rejectUpgrade(request, socket, 503, "The node is shutting down.");
    } else if (connections.size >= limits.connections) {
      rejectUpgrade(
        request,
        socket,
        503,
        `The limit of ${limits.connections} WebSocket connections (--max-connections) is reached.`,
      );
    } else {
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const connection = new Connection(webSocket, {
          execute,
          record: record && (() => record(request)),
          rights: policy.rightsOf(request, client),
          revocationReason: policy.revocationOf(request),
          key: client?.name,
          logger,
          limits,
          deadlines,
          subscriptionCount,
          socket: request.socket,
          budget: connectionManager.requestBytes,
          unread: connectionManager.responseBytes,
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

function rejectUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  status: number,
  message: string,
  headers?: Record<string, string>,
): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  const timeout = setTimeout(() => socket.destroy(), ERROR_RESPONSE_MILLIS);
  response.once("finish", () => (socket as Socket).destroySoon());
  socket.once("close", () => clearTimeout(timeout));
  socket.on("error", () => socket.destroy());
  sendError(response, status, message, headers);
}
