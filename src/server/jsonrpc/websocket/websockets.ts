import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Logger } from "../../../log/logger.ts";
import type { Execute } from "../execute.ts";
import { sendRefusal } from "../send.ts";
import { Connection, type ConnectionLimits } from "./connection.ts";

export interface WebSocketLimits extends ConnectionLimits {
  connections: number;
  /** How often each client is asked for a sign of life. */
  checkMillis: number;
}

interface WebSocketsOptions {
  execute: Execute;
  logger: Logger;
  /** The largest message that is read. */
  messageBytes: number;
  limits?: Partial<WebSocketLimits>;
}

interface WebSockets {
  /** Takes over the connection of an upgrade request. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Accepts nothing more, lets running calls finish, then takes leave of every client. */
  close(): Promise<void>;
}

export const DEFAULT_LIMITS: WebSocketLimits = {
  connections: 10_000,
  subscriptions: 100,
  // About two slots of all attestations of a network with a million validators would be more than this; a reader of
  // anything less has minutes.
  eventBytes: 8 * 1024 * 1024,
  runningMessages: 64,
  checkMillis: 30_000,
  leaveMillis: 2_000,
};

export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

export function createWebSockets({ execute, logger, messageBytes, limits: given }: WebSocketsOptions): WebSockets {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: messageBytes,
    perMessageDeflate: false,
  });
  const connections = new Set<Connection>();
  let closing: Promise<void> | undefined;
  const checks = setInterval(() => {
    for (const connection of connections) connection.check();
  }, limits.checkMillis);
  // Whoever forgets to close a server that never listened must not be kept alive by it.
  checks.unref();

  function accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (closing) {
      refuse(request, socket, 503, "The node is shutting down.");
    } else if (!isSameOrigin(request)) {
      refuse(request, socket, 403, "WebSocket connections from pages of other origins are not accepted.");
    } else if (connections.size >= limits.connections) {
      refuse(request, socket, 503, `There are ${limits.connections} WebSocket connections already.`);
    } else {
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const connection = new Connection(webSocket, { execute, logger, limits });
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

/**
 * A browser lets every page open WebSocket connections to every address, this node's included, and says in `Origin`
 * which page it is. Other clients send no such header, or the address that they connect to.
 */
function isSameOrigin({ headers: { origin, host } }: IncomingMessage): boolean {
  return origin === undefined || URL.parse(origin)?.host === host?.toLowerCase();
}

function refuse(request: IncomingMessage, socket: Duplex, status: number, message: string): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.once("finish", () => socket.end());
  socket.on("error", () => socket.destroy());
  sendRefusal(response, status, message);
}
