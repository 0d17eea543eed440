import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { createLogger } from "../log/pino-logger.ts";
import { DEFAULT_SERVER_LIMITS } from "../node/servers/server-limits.ts";
import { EXIT_CODES, StartupError } from "./exit.ts";
import { type RunningNode, runUntilStopped, type StopSignal } from "./run.ts";

function setup() {
  const events = new EventEmitter();
  const records: { level: string; msg: string; error?: { message: string } }[] = [];
  const { logger } = createLogger({
    format: "json",
    spec: "TRACE",
    destination: { write: (line) => records.push(JSON.parse(line)) },
  });
  const clock = { time: 0 };
  const exits: (number | StopSignal)[] = [];
  const ended = Promise.withResolvers<void>();
  const stopCalled = Promise.withResolvers<void>();
  /** Requests received by the node. */
  const requests: string[] = [];
  const node: RunningNode = {
    stopped: ended.promise,
    async stop() {
      requests.push("stop");
      stopCalled.resolve();
      await ended.promise;
    },
  };
  const reload = () => void requests.push("reload");
  const alarms = new Map<number, () => void>();
  const timers = {
    now: () => clock.time,
    every(ms: number, ring: () => void) {
      alarms.set(ms, ring);
      return () => void alarms.delete(ms);
    },
  };
  const exitNow = (code: number) => exits.push(code);
  const endBy = (signal: StopSignal) => exits.push(signal);
  const surroundings = { logger, events, exitNow, endBy, timers };
  const run = (start: (stopping: AbortSignal) => Promise<RunningNode> = async () => node, reloadsOnHangup = false) =>
    runUntilStopped(start, { ...surroundings, reloadsOnHangup });
  return { alarms, events, records, clock, exits, ended, stopCalled, node, reload, requests, run };
}

describe("running a node", () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2"]) {
    it(`stops gracefully on the first ${signal}`, async () => {
      const { alarms, events, requests, run, ended, stopCalled, exits, records } = setup();
      const code = run();
      events.emit(signal, signal);
      await stopCalled.promise;
      ended.resolve();
      expect(await code).toBe(0);
      expect(requests).toEqual(["stop"]);
      expect(exits).toEqual([]);
      expect(alarms.size).toBe(0);
      expect(records.map(({ msg }) => msg)).toEqual(["Stopping; a second signal exits at once", "Stopped"]);
      expect(events.eventNames()).toEqual([]);
    });
  }

  it("reloads after the start on a SIGHUP during it", async () => {
    const { events, node, reload, requests, run, ended } = setup();
    const starting = Promise.withResolvers<RunningNode>();
    const code = run(() => starting.promise, true);
    events.emit("SIGHUP", "SIGHUP");
    expect(requests).toEqual([]);
    starting.resolve({ ...node, reload });
    ended.resolve();
    expect(await code).toBe(0);
    expect(requests).toEqual(["reload"]);
  });

  it("reloads on SIGHUP if the node can, until it stops", async () => {
    const { events, node, reload, requests, run, ended, stopCalled } = setup();
    const code = run(async () => ({ ...node, reload }), true);
    await Promise.resolve();
    events.emit("SIGHUP", "SIGHUP");
    expect(requests).toEqual(["reload"]);
    events.emit("SIGTERM", "SIGTERM");
    await stopCalled.promise;
    ended.resolve();
    expect(await code).toBe(0);
    expect(requests).toEqual(["reload", "stop"]);
  });

  it("keeps the process alive while the node waits", async () => {
    const { alarms, run, ended } = setup();
    const code = run();
    expect(alarms.size).toBe(1);
    ended.resolve();
    expect(await code).toBe(0);
    expect(alarms.size).toBe(0);
  });

  it("exits by the signal when it is repeated", async () => {
    const { events, run, clock, exits, ended } = setup();
    const code = run();
    events.emit("SIGINT", "SIGINT");
    clock.time = 1000;
    events.emit("SIGINT", "SIGINT");
    events.emit("SIGTERM", "SIGTERM");
    expect(exits).toEqual(["SIGINT", "SIGTERM"]);
    ended.resolve();
    await code;
  });

  it("ignores a duplicate signal from npm or the launcher", async () => {
    const { events, run, clock, exits, ended } = setup();
    const code = run();
    events.emit("SIGINT", "SIGINT");
    clock.time = 20;
    events.emit("SIGINT", "SIGINT");
    expect(exits).toEqual([]);
    ended.resolve();
    await code;
  });

  it("stops a node that is still starting", async () => {
    const { events, run, node, ended, stopCalled } = setup();
    const started = Promise.withResolvers<RunningNode>();
    const code = run(() => started.promise);
    events.emit("SIGTERM", "SIGTERM");
    started.resolve(node);
    await stopCalled.promise;
    ended.resolve();
    expect(await code).toBe(0);
  });

  it("aborts a start on a signal, whatever error follows", async () => {
    const { events, run, records } = setup();
    const code = run(async (stopping) => {
      await new Promise((_, reject) => stopping.addEventListener("abort", reject));
      throw new Error("It goes on by itself.");
    });
    events.emit("SIGTERM", "SIGTERM");
    expect(await code).toBe(0);
    expect(records.find(({ level }) => level === "info")?.msg).toBe("Stopped during startup");
  });

  it("exits when stopping takes longer than ten seconds", async () => {
    const { alarms, events, run, ended, exits, records } = setup();
    const code = run();
    expect(alarms.has(10_000)).toBe(false);
    events.emit("SIGTERM", "SIGTERM");
    alarms.get(10_000)!();
    expect(exits).toEqual([EXIT_CODES.stopTimedOut]);
    expect(records.at(-1)).toMatchObject({ level: "error", msg: expect.stringContaining("did not stop in time") });
    ended.resolve();
    await code;
  });

  it("leaves time for the chain to close after the longest shutdown of the servers", async () => {
    const { alarms, events, run, ended } = setup();
    const code = run();
    events.emit("SIGTERM", "SIGTERM");
    expect(Math.min(...alarms.keys())).toBeGreaterThan(DEFAULT_SERVER_LIMITS.closeMillis);
    ended.resolve();
    expect(await code).toBe(0);
  });

  it("extends the deadline by the drain time", async () => {
    const { alarms, events, run, ended, node } = setup();
    const code = run(async () => ({ ...node, drainMillis: 5000 }));
    await Promise.resolve();
    events.emit("SIGTERM", "SIGTERM");
    expect([alarms.has(10_000), alarms.has(15_000)]).toEqual([false, true]);
    ended.resolve();
    expect(await code).toBe(0);
  });

  it("exits when the node stops by itself", async () => {
    const { run, ended, requests } = setup();
    ended.resolve();
    expect(await run()).toBe(0);
    expect(requests).toEqual([]);
  });

  it("logs a failure with its stack and exits with 1", async () => {
    const { run, ended, records } = setup();
    ended.reject(new Error("The disk is full."));
    expect(await run()).toBe(1);
    expect(records).toEqual([expect.objectContaining({ level: "fatal", error: expect.anything() })]);
    expect(records[0]?.error?.message).toBe("The disk is full.");
  });

  it("rethrows a startup error", async () => {
    const { run, records, events } = setup();
    const refusal = new StartupError("listen", "The port 9190 is taken.");
    await expect(run(() => Promise.reject(refusal))).rejects.toBe(refusal);
    expect(records).toEqual([]);
    expect(events.eventNames()).toEqual([]);
  });

  for (const event of ["uncaughtException", "unhandledRejection"]) {
    it(`logs an ${event} and exits with 1 at once`, async () => {
      const { run, events, exits, records, ended } = setup();
      const code = run();
      events.emit(event, new Error("Not caught."));
      expect(exits).toEqual([1]);
      expect(records).toEqual([expect.objectContaining({ level: "fatal" })]);
      ended.resolve();
      await code;
    });
  }
});
