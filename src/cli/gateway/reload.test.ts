import { expect, it, onTestFinished } from "vitest";
import type { GatewaySettings } from "../../gateway/settings.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import { settingsInTemporaryDirectory } from "../flags/settings.test-support.ts";
import { ConfigReloader } from "./reload.ts";

const { folder, gateway, file } = settingsInTemporaryDirectory();

function setup(text: string, changedDuringStart = text) {
  const name = file("gateway.yaml", text);
  const read = () => gateway(["--config-file", name]);
  const applied: GatewaySettings[] = [];
  const logger = createRecordingLogger();
  const started = read();
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
  return { applied, reload, messages };
}

it("applies a changed file, and names settings that need a restart", async () => {
  const { applied, reload, messages } = setup("upstreams: [{ url: http://a }]");
  await reload("upstreams: [{ url: http://b }]\nworkers: 3\nrest-port: 1");
  expect(applied).toMatchObject([{ upstreams: [{ name: "b" }], workers: 1 }]);
  expect(new Set(messages())).toEqual(new Set(["Config file reloaded", "Config change needs a restart"]));
});

it("applies equal settings once, and confirms a requested reload", async () => {
  const { applied, reload, messages } = setup("upstreams: [{ url: http://a }]");
  await reload("upstreams: [{ url: http://a }]");
  await reload("upstreams: [{ url: http://b }]");
  await reload("upstreams: [{ url: http://b }]");
  expect(applied).toMatchObject([{ upstreams: [{ name: "b" }] }]);
  expect(new Set(messages())).toEqual(new Set(["Config file reloaded"]));
});

it("applies a change that was made during the start", async () => {
  const { applied } = setup("upstreams: [{ url: http://a }]", "upstreams: [{ url: http://b }]");
  await expect.poll(() => applied).toMatchObject([{ upstreams: [{ name: "b" }] }]);
});

it("rejects an invalid file and continues with the previous settings", async () => {
  const { applied, reload, messages } = setup("upstreams: [{ url: http://a }]");
  await reload("upstreams: [{ url: http://a, tier: x }]");
  await reload("upstreams: [{ url: http://a }]\nmethods: { unknownMethod: {} }");
  expect(applied).toEqual([]);
  expect(new Set(messages())).toEqual(new Set(["Config file rejected, keeping the previous settings"]));
  await reload("upstreams: [{ url: http://c }]");
  expect(applied).toMatchObject([{ upstreams: [{ name: "c" }] }]);
});
