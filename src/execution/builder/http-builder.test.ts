import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createChainForkConfig, defaultChainConfig } from "@lodestar/config";
import { expect, it, onTestFinished } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { HttpBuilder } from "./http-builder.ts";

const config = createChainForkConfig(defaultChainConfig);
const REQUEST = { slot: 1, parentHash: new Uint8Array(32), proposerPubkey: new Uint8Array(48) };

/** A scripted builder. */
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
])("accepts a response without a bid%s", async (_, headers) => {
  const { builder } = await openBuilder((_request, response) => response.writeHead(204, headers).end());
  expect(await builder.getBid(REQUEST)).toBeNull();
});

it.each<[name: string, type: string, body: string, complaint: RegExp]>([
  ["no JSON", "application/json", "{", /^The builder's response cannot be decoded: .*JSON/],
  ["another type", "text/html", "<p>", /^The builder's response cannot be decoded: .*text\/html/],
  ["no bid", "application/json", '{"version":"electra","data":{}}', /^The builder's response cannot be decoded: /],
  [
    "no fork",
    "application/json",
    '{"version":"never","data":{}}',
    /^The builder's response cannot be decoded: .*never/,
  ],
  [
    "a name that all objects know",
    "application/json",
    '{"version":"constructor","data":{}}',
    /unknown fork "constructor"/,
  ],
  ["a fork without payloads", "application/json", '{"version":"altair","data":{}}', /cannot be decoded/],
  ["too much", "application/octet-stream", "x".repeat(33 * 1024 * 1024), /more than 33554432 bytes/],
])("rejects a response that is %s", async (_, type, body, complaint) => {
  const { builder, logger } = await openBuilder((_request, response) => {
    response.writeHead(200, { "Content-Type": type, "Eth-Consensus-Version": "electra" }).end(body);
  });
  await expect(builder.getBid(REQUEST)).rejects.toMatchObject({
    name: "BuilderError",
    isRejection: false,
    isUnreadable: true,
    message: expect.stringMatching(complaint),
  });
  // The builder still counts as online.
  expect(logger.records).toMatchObject([{ message: "Builder is online" }]);
});

it("reports the reason of a rejection, truncated", async () => {
  const { builder } = await openBuilder((_request, response) => {
    response.writeHead(400).end(JSON.stringify({ code: 400, message: `unknown validator${"!".repeat(1000)}` }));
  });
  const error = await builder.registerValidators([]).catch((reason: Error) => reason);
  expect(error).toMatchObject({ isRejection: true, message: expect.stringContaining("unknown validator!") });
  expect((error as Error).message.length).toBeLessThan(400);
});

it("logs online and offline once, without the password", async () => {
  const { builder, logger, close } = await openBuilder((_request, response) => response.writeHead(200).end());
  await builder.checkStatus();
  await builder.checkStatus();
  close();
  for (let i = 0; i < 2; i++) {
    await expect(builder.getBid(REQUEST)).rejects.toThrow(/^The builder is unreachable: /);
  }
  expect(logger.records).toMatchObject([
    { level: "notice", message: "Builder is online" },
    { level: "warn", message: "Builder is offline" },
  ]);
  expect(JSON.stringify(logger.records)).not.toContain("secret");
});

it("aborts requests on close", async () => {
  const { builder, logger } = await openBuilder(() => builder.close());
  await expect(builder.getBid(REQUEST)).rejects.toThrow("The node is shutting down.");
  expect(logger.records).toEqual([]);
});
