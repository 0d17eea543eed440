/** Baseline server for long answers: sends the bytes of a file for every request, and a short answer on SHORT_PATH. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentGone, report } from "../support/child.ts";
import { SHORT_PATH } from "./bare-server.ts";

const SHORT = JSON.stringify({ jsonrpc: "2.0", id: 1, result: "short" });

let answer = Buffer.alloc(0);
process.on("message", ({ file }: { file: string }) => {
  answer = readFileSync(file);
  report({ ready: true });
});

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    const body = request.url === SHORT_PATH ? SHORT : answer;
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length });
    response.end(body);
  });
});
server.listen({ host: "127.0.0.1", port: 0 }, () => {
  report({ port: (server.address() as AddressInfo).port });
});

await parentGone();
server.close();
server.closeAllConnections();
