import { WebSocket } from "ws";
import { formatLines } from "../call/format-result.ts";
import { printable, printableJson } from "../call/printable.ts";
import { NoResponseError } from "../call/request.ts";
import { EXIT_CODES } from "../exit.ts";
import { withoutCredentials } from "../flags/flag-values.ts";
import type { Terminal } from "../terminal.ts";
import type { Connection } from "./discovery.ts";

interface SubscriptionOptions extends Connection {
  /** JSON array of topics. */
  topics: string;
  json: boolean;
  /** Called once the subscription is confirmed. */
  onStart(): void;
}

interface Message {
  id?: unknown;
  error?: { message?: unknown };
  params?: { topic?: unknown; data?: unknown; error?: { message?: unknown } };
}

/**
 * Prints events until the signal aborts. Returns the exit code, which is a failure if the node ends the subscription.
 */
export async function printEvents(
  { url, token, timeout, topics, json, onStart }: SubscriptionOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const socket = new WebSocket(url.replace(/^http/i, "ws"), {
    handshakeTimeout: Math.min(timeout * 1000, 2 ** 31 - 1),
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
  });
  const shown = withoutCredentials(url);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const fail = (message: unknown) => {
    terminal.writeError(`fanal: ${printable(String(message))}\n`);
    resolve(EXIT_CODES.internal);
  };
  const end = () => resolve(EXIT_CODES.ok);
  signal.addEventListener("abort", end);
  socket.on("open", () => socket.send(`{"jsonrpc":"2.0","id":1,"method":"subscribe","params":[${topics}]}`));
  socket.on("error", (error) =>
    reject(new NoResponseError(`The subscription to ${shown} failed: ${error.message}.`, error)),
  );
  socket.on("close", () => reject(new NoResponseError(`The node at ${shown} closed the connection.`)));
  socket.on("message", (data) => {
    const { error, params } = readMessage(String(data));
    const failed = error ?? params?.error;
    if (failed) fail(failed.message);
    else if (params === undefined) onStart();
    else terminal.write(eventText(params, json, terminal)).catch(reject);
  });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", end);
    // Terminating a pending connection emits an error, which is ignored.
    socket.removeAllListeners("close").on("error", () => {});
    socket.terminate();
  }
}

function readMessage(text: string): Message {
  try {
    return JSON.parse(text) as Message;
  } catch {
    return { error: { message: "The node sent invalid JSON." } };
  }
}

function eventText(
  { topic, data }: NonNullable<Message["params"]>,
  json: boolean,
  { isInteractive }: Terminal,
): string {
  if (json) return `${printableJson(JSON.stringify({ topic, data }))}\n`;
  const lines = [printable(String(topic)), ...formatLines(data, { shortenHex: isInteractive }, "  ")];
  return `${lines.join("\n")}\n`;
}
