import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Terminal } from "../../../../src/cli/terminal.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Starts an HTTP server with the given handler on a free port; returns its URL. */
export async function serve(handler: Handler): Promise<string> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => handler(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const answering = (json: string, status = 200) =>
  serve((_request, response) => response.writeHead(status, { "Content-Type": "application/json" }).end(json));

/** Fake terminal whose reader closes the pipe after `reads` writes. */
export function fakeTerminal({ isInteractive = false, reads = Number.POSITIVE_INFINITY } = {}) {
  const written = { out: "", err: "", count: 0 };
  const fake: Terminal = {
    isInteractive,
    write: async (chunk) => {
      written.count++;
      if (written.count > reads) return false;
      written.out += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
      return true;
    },
    writeError: (text) => (written.err += text),
    readInput: async () => Buffer.alloc(0),
  };
  return { fake, written };
}
