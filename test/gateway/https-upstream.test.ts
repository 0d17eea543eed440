import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { SYSTEM_TIMERS } from "../../src/async/timers.ts";
import { UpstreamClient } from "../../src/gateway/upstream/client/upstream-client.ts";

/** Self-signed certificate for localhost and 127.0.0.1. */
const cert = readFileSync(new URL("../fixtures/tls/certificate.pem", import.meta.url), "utf8");
const key = readFileSync(new URL("../fixtures/tls/key.pem", import.meta.url), "utf8");
const trusted = getCACertificates("default");

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  setDefaultCACertificates(trusted);
  for (const close of closing.splice(0).reverse()) await close();
});

async function listen(server: Server | HttpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

function ask(url: string, path = "/") {
  const client = new UpstreamClient({ name: "a", url, tier: 0, weight: 1 }, { timers: SYSTEM_TIMERS });
  closing.push(() => client.close());
  return client.request({ verb: "GET", url: path, headers: {} });
}

it("connects to an upstream over TLS by name or address if its certificate is trusted", async () => {
  // Longer than the buffer for a reader that has not started.
  const large = randomBytes(4 * 1024 * 1024);
  const server = createServer({ cert, key }, ({ url }, response) => response.end(url === "/large" ? large : "ok"));
  const port = await listen(server);
  await expect(ask(`https://localhost:${port}`)).rejects.toMatchObject({
    message: "a has an untrusted certificate: set NODE_EXTRA_CA_CERTS to that of its CA.",
    mayHaveArrived: false,
  });
  setDefaultCACertificates([...trusted, cert]);
  for (const host of ["localhost", "127.0.0.1"]) {
    expect(String((await ask(`https://${host}:${port}`)).body)).toBe("ok");
  }
  const { body } = await ask(`https://localhost:${port}`, "/large");
  const pieces: Buffer[] = [];
  for await (const piece of body as AsyncIterable<Buffer>) pieces.push(piece);
  expect(Buffer.concat(pieces).equals(large)).toBe(true);
});

it("explains the error if an https URL points to an http upstream", async () => {
  const server = createHttpServer((_request, response) => response.end("ok"));
  const port = await listen(server);
  await expect(ask(`https://127.0.0.1:${port}`)).rejects.toThrow(
    "a does not support TLS: its URL may have to start with http://.",
  );
});
