import { expect, it } from "vitest";
import { createRecordingLogger } from "../../test/support/log/recording-logger.ts";
import { listenOnFreePort } from "./listen.ts";

/** A server on a machine where some ports are already in use. */
function serverBeside(taken: readonly number[]) {
  const logger = createRecordingLogger();
  const listen = async ({ host, port }: { host: string; port: number }) => {
    if (taken.includes(port)) throw Object.assign(new Error("in use"), { code: "EADDRINUSE" });
    if (port === 80) throw Object.assign(new Error("forbidden"), { code: "EACCES" });
    return { host, port, url: `http://${host}:${port}` };
  };
  const on = (port: number, triesNextPorts?: boolean) =>
    listenOnFreePort({ listen }, { host: "127.0.0.1", port, triesNextPorts }, logger);
  return { on, logger };
}

it("uses the next free port with a warning, if allowed", async () => {
  const { on, logger } = serverBeside([8545, 8546]);
  expect((await on(8547, true)).port).toBe(8547);
  expect(logger.records).toEqual([]);
  expect((await on(8545, true)).port).toBe(8547);
  expect(logger.records).toMatchObject([{ level: "warn", fields: { port: 8545, free: 8547 } }]);
});

it("fails otherwise, and on any other error", async () => {
  const { on } = serverBeside([8545, 65_535]);
  await expect(on(8545)).rejects.toThrow("in use");
  await expect(on(65_535, true)).rejects.toThrow("in use");
  await expect(on(80, true)).rejects.toThrow("forbidden");
});
