import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";

const BLOCK_PRODUCTION = /^\/eth\/v[12]\/validator\/blocks\//;

/**
 * Stands between the client and the node and passes everything on as it is, but for one field: this release of Lodestar reads
 * a `block_value` beside a produced block, which the standard does not have and the node does not send.
 */
export async function startBlockValueProxy(nodeUrl: string): Promise<string> {
  const server = createServer((asked, answer) => {
    const { method, url = "/" } = asked;
    const isBlock = BLOCK_PRODUCTION.test(url);
    const headers = withoutConnection(asked.headers);
    // What is to be changed must not be compressed.
    if (isBlock) delete headers["accept-encoding"];
    const passedOn = request(new URL(url, nodeUrl), { method, headers }, (answered) => {
      if (isBlock && answered.statusCode === 200) {
        answerWithBlockValue(answered, answer).catch(() => answer.destroy());
      } else {
        answerAsItIs(answered, answer);
      }
    });
    passedOn.on("error", () => answer.destroy());
    answer.on("close", () => passedOn.destroy());
    asked.pipe(passedOn);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function withoutConnection({ connection: _, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers;
}

function answerAsItIs(answered: IncomingMessage, answer: ServerResponse): void {
  answer.writeHead(answered.statusCode!, withoutConnection(answered.headers));
  // An event stream is open before its first event.
  answer.flushHeaders();
  answered.on("error", () => answer.destroy());
  answered.pipe(answer);
}

async function answerWithBlockValue(answered: IncomingMessage, answer: ServerResponse): Promise<void> {
  const block = (await json(answered)) as object;
  answer.writeHead(200, { "content-type": "application/json" });
  answer.end(JSON.stringify({ ...block, block_value: "0" }));
}
