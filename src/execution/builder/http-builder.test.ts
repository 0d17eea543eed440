import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createChainForkConfig, defaultChainConfig } from "@lodestar/config";
import { expect, it, onTestFinished } from "vitest";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { HttpBuilder } from "./http-builder.ts";

const config = createChainForkConfig(defaultChainConfig);
const REQUEST = { slot: 1, parentHash: new Uint8Array(32), proposerPubkey: new Uint8Array(48) };

/** A builder that answers as it is told. */
async function openBuilder(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const logger = createRecordingLogger();
  const url = `http://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}`;
  const builder = new HttpBuilder({ url, config, logger, bidTimeoutMs: 60_000 });
  return { builder, logger, close };
}

it.each([
  ["", {}],
  [", whatever type it would be of", { "Content-Type": "application/json" }],
  [", of a type that no bid is of", { "Content-Type": "text/plain; charset=utf-8" }],
])("knows an answer without a bid%s", async (_, headers) => {
  const { builder } = await openBuilder((_request, response) => response.writeHead(204, headers).end());
  expect(await builder.getBid(REQUEST)).toBeNull();
});

it.each<[name: string, type: string, body: string, complaint: RegExp]>([
  ["no JSON", "application/json", "{", /^The builder's answer cannot be read: .*JSON/],
  ["another type", "text/html", "<p>", /^The builder's answer cannot be read: .*text\/html/],
  ["no bid", "application/json", '{"version":"electra","data":{}}', /^The builder's answer cannot be read: /],
  ["no fork", "application/json", '{"version":"never","data":{}}', /^The builder's answer cannot be read: .*never/],
  [
    "a name that all objects know",
    "application/json",
    '{"version":"constructor","data":{}}',
    /is of the fork "constructor",/,
  ],
  ["a fork without payloads", "application/json", '{"version":"altair","data":{}}', /cannot be read/],
  ["too much", "application/octet-stream", "x".repeat(33 * 1024 * 1024), /more than 33554432 bytes/],
])("refuses an answer that is %s", async (_, type, body, complaint) => {
  const { builder, logger } = await openBuilder((_request, response) => {
    response.writeHead(200, { "Content-Type": type, "Eth-Consensus-Version": "electra" }).end(body);
  });
  await expect(builder.getBid(REQUEST)).rejects.toMatchObject({
    name: "BuilderError",
    isRefusal: false,
    isUnreadable: true,
    message: expect.stringMatching(complaint),
  });
  // It is there all the same.
  expect(logger.records).toMatchObject([{ message: "The builder answers" }]);
});

it("passes on why something is refused, and not at length", async () => {
  const { builder } = await openBuilder((_request, response) => {
    response.writeHead(400).end(JSON.stringify({ code: 400, message: `unknown validator${"!".repeat(1000)}` }));
  });
  const error = await builder.registerValidators([]).catch((reason: Error) => reason);
  expect(error).toMatchObject({ isRefusal: true, message: expect.stringContaining("unknown validator!") });
  expect((error as Error).message.length).toBeLessThan(400);
});

it("tells once that it is there and once that it is gone, without the password", async () => {
  const { builder, logger, close } = await openBuilder((_request, response) => response.writeHead(200).end());
  await builder.checkStatus();
  await builder.checkStatus();
  close();
  for (let i = 0; i < 2; i++) {
    await expect(builder.getBid(REQUEST)).rejects.toThrow(/^The builder cannot be reached: /);
  }
  expect(logger.records).toMatchObject([
    { level: "notice", message: "The builder answers" },
    { level: "warn", message: "The builder does not answer" },
  ]);
  expect(JSON.stringify(logger.records)).not.toContain("secret");
});

it("ends what is under way when it is closed", async () => {
  const { builder, logger } = await openBuilder(() => builder.close());
  await expect(builder.getBid(REQUEST)).rejects.toThrow("The node is being closed.");
  expect(logger.records).toEqual([]);
});
