import { WebSocket } from "ws";
import { printable, printableJson } from "../call/printable.ts";
import { readableLines } from "../call/readable.ts";
import { NoAnswerError } from "../call/request.ts";
import { EXIT_CODES } from "../exit.ts";
import { withoutCredentials } from "../flags/flag-values.ts";
import type { Terminal } from "../terminal.ts";
import type { Connection } from "./discovery.ts";

interface SubscriptionOptions extends Connection {
  /** The JSON text of the list of topics. */
  topics: string;
  json: boolean;
  /** Called when the node has agreed. */
  onStart(): void;
}

interface Message {
  id?: unknown;
  error?: { message?: unknown };
  params?: { topic?: unknown; data?: unknown; error?: { message?: unknown } };
}

/** Prints events as they come until the signal ends it; the result is the exit code, of a failure if the node ends it. */
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
  const refuse = (message: unknown) => {
    terminal.complain(`fanal: ${printable(String(message))}\n`);
    resolve(EXIT_CODES.internal);
  };
  const end = () => resolve(EXIT_CODES.ok);
  signal.addEventListener("abort", end);
  socket.on("open", () => socket.send(`{"jsonrpc":"2.0","id":1,"method":"subscribe","params":[${topics}]}`));
  socket.on("error", (error) =>
    reject(new NoAnswerError(`No events can be had from ${shown}: ${error.message}.`, error)),
  );
  socket.on("close", () => reject(new NoAnswerError(`The node at ${shown} has ended the connection.`)));
  socket.on("message", (data) => {
    const { error, params } = readMessage(String(data));
    const failed = error ?? params?.error;
    if (failed) refuse(failed.message);
    else if (params === undefined) onStart();
    else terminal.write(eventText(params, json, terminal)).catch(reject);
  });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", end);
    // A connection that is not there yet has an error when it is given up, which is nobody's concern.
    socket.removeAllListeners("close").on("error", () => {});
    socket.terminate();
  }
}

function readMessage(text: string): Message {
  try {
    return JSON.parse(text) as Message;
  } catch {
    return { error: { message: "The node sent what is no JSON." } };
  }
}

function eventText(
  { topic, data }: NonNullable<Message["params"]>,
  json: boolean,
  { isInteractive }: Terminal,
): string {
  if (json) return `${printableJson(JSON.stringify({ topic, data }))}\n`;
  const lines = [printable(String(topic)), ...readableLines(data, { shortenHex: isInteractive }, "  ")];
  return `${lines.join("\n")}\n`;
}
