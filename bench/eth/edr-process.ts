/** Serves EDR over bare `node:http`. Reports its port, or none if EDR has no binary for this platform. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fundedAccounts } from "../../src/evm/accounts.ts";
import { EdrChain, loadEdr } from "../../test/evm/edr-chain.ts";
import { parentGone, report, reportCpuOnRequest } from "../support/child.ts";

const library = await loadEdr();
if (library === undefined) {
  report({});
  await parentGone();
} else {
  const ownedAccounts = fundedAccounts().map(({ privateKey }) => privateKey);
  const chain = await EdrChain.open(library, { ownedAccounts, autoMine: true });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const body = await chain.respond(Buffer.concat(chunks).toString());
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
      response.end(body);
    });
  });
  server.listen({ host: "127.0.0.1", port: 0 }, () => {
    reportCpuOnRequest();
    report({ port: (server.address() as AddressInfo).port });
  });
  await parentGone();
  server.close();
  server.closeAllConnections();
}
