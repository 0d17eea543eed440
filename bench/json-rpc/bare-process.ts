/** The least that a server must do: it reads the body of the request and answers with bytes that its parent gave it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerCpuQuestions, parentGone, report } from "../support/child.ts";

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
    // As the JSON-RPC server does: a body given as a string leaves in one write together with the head.
    response.end(answer, "latin1");
  });
});
server.listen({ host: "127.0.0.1", port: 0 }, () => {
  answerCpuQuestions();
  report({ port: (server.address() as AddressInfo).port });
});

await parentGone();
server.close();
server.closeAllConnections();
