/** Baseline server: reads the request body and responds with fixed bytes from its parent. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentGone, report, reportCpuOnRequest } from "../support/child.ts";

let answer = "";
process.on("message", (message: { answer?: string }) => {
  if (message.answer === undefined) return;
  answer = message.answer;
  report({ ready: true });
});

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    if (body.length === 0 && request.method === "POST") throw new Error("The request has no body.");
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": answer.length });
    // Same as the JSON-RPC server: a string body is written together with the headers.
    response.end(answer, "latin1");
  });
});
server.listen({ host: "127.0.0.1", port: 0 }, () => {
  reportCpuOnRequest();
  report({ port: (server.address() as AddressInfo).port });
});

await parentGone();
server.close();
server.closeAllConnections();
