import { expect, it, onTestFinished } from "vitest";
import { settingsInTemporaryDirectory } from "../../../test/support/cli/flags/settings.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import type { GatewaySettings } from "../../gateway/settings.ts";
import { loadGatewaySettings } from "./check.ts";
import { ConfigReloader } from "./reload.ts";

const { folder, file } = settingsInTemporaryDirectory();

async function setup(text: string, changedDuringStart = text) {
  const name = file("gateway.yaml", text);
  const read = () =>
    loadGatewaySettings({
      flagTexts: new Map([["config-file", [name]]]),
      environment: {},
      workingDirectory: folder,
    });
  const applied: GatewaySettings[] = [];
  const logger = createRecordingLogger();
  const started = await read();
  file(name, changedDuringStart);
  const reloader = new ConfigReloader({
    file: `${folder}/${name}`,
    started,
    read,
    apply: async (settings) => void applied.push(settings),
    logger,
  });
  onTestFinished(() => reloader.close());
  const reload = async (changed: string) => {
    file(name, changed);
    const before = logger.records.length;
    reloader.reload();
    await expect.poll(() => logger.records.length).toBeGreaterThan(before);
  };
  const messages = () => logger.records.map(({ message }) => message);
  const fieldOf = (message: string, field: string) =>
    logger.records.find((record) => record.message === message)?.fields?.[field];
  return { applied, reload, messages, fieldOf };
}

it("applies a changed file, and names settings that need a restart", async () => {
  const { applied, reload, messages, fieldOf } = await setup("upstreams: [{ url: http://a }]");
  await reload(
    "upstreams: [{ url: http://b }]\nworkers: 3\nrest-port: 1\nlog-level: WARN\ncache: redis://a\nhedge-after: 5\n" +
      "drain-seconds: 1\nmethods: { getChainHead: {} }",
  );
  expect(applied).toMatchObject([{ upstreams: [{ name: "b" }], workers: 1 }]);
  expect(new Set(messages())).toEqual(new Set(["Config file reloaded", "Config change needs a restart"]));
  expect(fieldOf("Config file reloaded", "changed")).toEqual(["upstreams", "methods", "hedge-after"]);
  expect(fieldOf("Config change needs a restart", "settings")).toEqual([
    "workers",
    "drain-seconds",
    "cache",
    "rest-port",
    "log-level",
  ]);
});

it("names keys whose files have other content", async () => {
  file("password", "a");
  const text = "upstreams: [{ url: http://a }]\ncache: redis://a\ncache-password-file: password";
  const { reload, fieldOf } = await setup(text);
  file("password", "b");
  await reload(text);
  expect(fieldOf("Config change needs a restart", "settings")).toEqual(["cache-password-file"]);
});

it("applies equal settings once, and confirms a requested reload", async () => {
  const { applied, reload, messages } = await setup("upstreams: [{ url: http://a }]");
  await reload("upstreams: [{ url: http://a }]");
  await reload("upstreams: [{ url: http://b }]");
  await reload("upstreams: [{ url: http://b }]");
  expect(applied).toMatchObject([{ upstreams: [{ name: "b" }] }]);
  expect(new Set(messages())).toEqual(new Set(["Config file reloaded"]));
});

it("applies a change that was made during the start", async () => {
  const { applied } = await setup("upstreams: [{ url: http://a }]", "upstreams: [{ url: http://b }]");
  await expect.poll(() => applied).toMatchObject([{ upstreams: [{ name: "b" }] }]);
});

it("lists all problems of an invalid file", async () => {
  const { reload, fieldOf } = await setup("upstreams: [{ url: http://a }]");
  await reload("qurom: 2\nupstreams: [{ url: http://a, tier: x }]\nmethods: { unknownMethod: {} }");
  const error = String(fieldOf("Config file rejected, keeping the previous settings", "error"));
  expect(error.split("\n")).toHaveLength(4);
});

it("rejects an invalid file and continues with the previous settings", async () => {
  const { applied, reload, messages } = await setup("upstreams: [{ url: http://a }]");
  await reload("upstreams: [{ url: http://a, tier: x }]");
  await reload("upstreams: [{ url: http://a }]\nmethods: { unknownMethod: {} }");
  expect(applied).toEqual([]);
  expect(new Set(messages())).toEqual(new Set(["Config file rejected, keeping the previous settings"]));
  await reload("upstreams: [{ url: http://c }]");
  expect(applied).toMatchObject([{ upstreams: [{ name: "c" }] }]);
});
