import { expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { FakeTimers, flushPromises } from "../../../test/support/time/fake-timers.ts";
import { LocalBudgetStore } from "../clients/budget-store.ts";
import { EventPublisher } from "../events/event-publisher.ts";
import type { GatewaySettings } from "../settings.ts";
import type { UpstreamHealth } from "../upstream/upstream-health.ts";
import type { ToPrimary, ToWorker, WorkerConfig, WorkerReport } from "./protocol.ts";
import { RemoteHealth } from "./remote-health.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { WorkerProcess } from "./worker-process.ts";

type How = { code: number | null; signal: string | null };

/** A scripted worker process. */
class ScriptedProcess implements WorkerProcess {
  readonly pid: number;
  /** Received messages. */
  readonly got: ToWorker[] = [];
  ended: "released" | "killed" | undefined;
  /** Answers report requests at once. */
  isReporting = false;
  #say: (messages: readonly ToPrimary[]) => void = () => {};
  #exit: (how: How) => void = () => {};

  constructor(pid: number) {
    this.pid = pid;
  }

  postMessage(messages: readonly ToWorker[]): void {
    this.got.push(...messages);
    if (messages.some(([kind]) => kind === "close")) this.say(["closed"]);
    if (this.isReporting && messages.some(([kind]) => kind === "report")) this.say(["report", NOTHING]);
  }

  onMessage(listener: (messages: readonly ToPrimary[]) => void): void {
    this.#say = listener;
  }

  onExit(listener: (how: How) => void): void {
    this.#exit = listener;
  }

  release(): void {
    this.ended = "released";
    this.die({ code: 0, signal: null });
  }

  kill(): void {
    this.ended = "killed";
    this.die({ code: null, signal: "SIGKILL" });
  }

  say(...messages: ToPrimary[]): void {
    this.#say(messages);
  }

  die(how: How): void {
    this.#exit(how);
  }

  /** Returns the messages since the last call, without the configuration. */
  take(): ToWorker[] {
    return this.got.splice(0).filter(([kind]) => kind !== "serve");
  }
}

const NOTHING = { loads: [], calls: [], subscriberCounts: [] } as unknown as WorkerReport;

const ready = (upstream: string, slot: number): UpstreamHealth => ({
  upstream,
  state: "ready",
  reasons: [],
  head: { slot, root: "0x00" },
});

const ORDER = { hasMetrics: true, hasAccessLog: true } as WorkerConfig;
const URLS = { rest: "http://127.0.0.1:1" };

async function setup(count = 2) {
  const timers = new FakeTimers();
  const logger = createRecordingLogger();
  const health = new RemoteHealth({ health: [ready("a", 1)], headFloor: 1, finalityReverts: 0 }, () => {});
  const events = new EventPublisher({ health });
  const processes: ScriptedProcess[] = [];
  const noted: unknown[] = [];
  const starting = WorkerPool.start({
    count,
    config: ORDER,
    health,
    handlers: {
      budgetStore: new LocalBudgetStore(timers),
      events,
      onRepeatedFailure: (...failure) => noted.push(failure),
      writeAccessLog: (lines) => noted.push(lines),
      onReport: ({ calls }) => noted.push(calls),
    },
    timers,
    logger,
    startProcess: () => {
      const process = new ScriptedProcess(processes.length + 1);
      processes.push(process);
      return process;
    },
  });
  await flushPromises();
  return { timers, logger, health, events, processes, noted, starting };
}

async function setupServing(count = 2) {
  const options = await setup(count);
  for (const process of options.processes) process.say(["listening", URLS]);
  const { workers, urls } = await options.starting;
  for (const process of options.processes) process.take();
  return { ...options, workers, urls };
}

it("all workers start with the same configuration and health", async () => {
  const { processes, starting } = await setup();
  const config = [["serve", { ...ORDER, health: [ready("a", 1)], headFloor: 1, finalityReverts: 0 }]];
  expect(processes.map(({ got }) => got)).toEqual([config, config]);
  processes[0]!.say(["listening", URLS]);
  processes[1]!.say(["listening", URLS]);
  expect((await starting).urls).toEqual(URLS);
});

it("a start fails if one worker cannot listen, and ends all", async () => {
  const { processes, starting } = await setup();
  processes[0]!.say(["listening", URLS]);
  processes[1]!.say(["cannot listen", "rest", { message: "It is taken.", code: "EADDRINUSE" }]);
  await expect(starting).rejects.toMatchObject({ name: "ListenError", server: "rest", code: "EADDRINUSE" });
  expect(processes.map(({ ended }) => ended)).toEqual(["killed", "killed"]);
});

it("health is sent once per tick, and the head floor before its event", async () => {
  const { health, events, processes } = await setupServing();
  health.updateHealth([ready("a", 2)]);
  health.updateHealth([ready("a", 3)]);
  health.raiseHeadFloor(3);
  events.publish({ topic: "head", data: Buffer.from("{}") });
  await flushPromises();
  const [first, second] = processes.map((process) => process.take());
  expect(first).toEqual([
    ["headFloor", 3, false],
    ["event", "head", Buffer.from("{}")],
    ["health", [ready("a", 3)]],
  ]);
  expect(second).toEqual(first);
  health.updateHeadFloor(2, true);
  await flushPromises();
  expect(processes[0]!.take()).toContainEqual(["headFloor", 2, true]);
});

it("a finality revert is sent before its event", async () => {
  const { health, events, processes } = await setupServing();
  health.updateFinalityReverts(1);
  events.publish({ topic: "chain_reorg", data: Buffer.from("{}") });
  await flushPromises();
  expect(processes[1]!.take().slice(0, 2)).toEqual([
    ["finalityReverts", 1],
    ["event", "chain_reorg", Buffer.from("{}")],
  ]);
});

it("an event goes once to each worker with subscribers", async () => {
  const { events, processes } = await setupServing();
  const [first, second] = processes as [ScriptedProcess, ScriptedProcess];
  const attestation = { topic: "attestation", data: Buffer.from("1") };
  first.say(["subscribe", ["attestation", "voluntary_exit"]]);
  events.publish(attestation);
  await flushPromises();
  expect([first.take(), second.take()]).toEqual([[["event", "attestation", attestation.data]], []]);
  first.say(["subscribe", ["voluntary_exit"]]);
  events.publish(attestation);
  await flushPromises();
  expect(first.take()).toEqual([]);
  first.die({ code: 1, signal: null });
  expect([...events.topics].sort()).toEqual(["block", "chain_reorg", "finalized_checkpoint", "head"]);
});

it("messages of a worker reach their handlers", async () => {
  const { health, processes, noted, logger } = await setupServing();
  const [first, second] = processes as [ScriptedProcess, ScriptedProcess];
  const pinned: ToPrimary & ToWorker = ["pinned", { subject: "block", slot: 7 }, "a"];
  first.say(
    ["raise head floor", 9],
    pinned,
    ["failing", "a", "It is silent."],
    ["access", "{}\n"],
    ["log", undefined, "warn", "Look.", { at: "this" }],
  );
  expect(health.headFloor).toBe(9);
  expect(noted).toEqual([["a", "It is silent."], "{}\n"]);
  expect(logger.records).toContainEqual({ level: "warn", message: "Look.", fields: { at: "this" } });
  await flushPromises();
  const got = second.take();
  expect(got).toContainEqual(["headFloor", 9, false]);
  expect(got).toContainEqual(pinned);
  expect(first.take()).not.toContainEqual(pinned);
});

it("a head floor that is not credible is reset", async () => {
  const { health, processes } = await setupServing(1);
  health.raiseHeadFloor = () => {};
  processes[0]!.say(["raise head floor", 2 ** 53]);
  await flushPromises();
  expect(processes[0]!.take()).toEqual([["headFloor", 1, true]]);
});

it("a worker that exits is replaced with backoff, and its pending calls are subtracted", async () => {
  const { timers, processes, noted, logger, workers } = await setupServing(1);
  const tally = { server: "rest" as const, method: "getChainHead", begun: 3, seconds: [0.1], errorCodes: [], bytes: 1 };
  processes[0]!.say(["report", { loads: [], calls: [tally], subscriberCounts: [] } as unknown as WorkerReport]);
  processes[0]!.die({ code: null, signal: "SIGSEGV" });
  await flushPromises();
  expect(noted.at(-1)).toEqual([{ ...tally, begun: -2, seconds: [], bytes: 0 }]);
  expect([workers.running, workers.replaced]).toEqual([0, 1]);
  await timers.advance(100);
  expect(processes).toHaveLength(2);
  processes[1]!.die({ code: 1, signal: null });
  await flushPromises();
  await timers.advance(199);
  expect(processes).toHaveLength(2);
  await timers.advance(1);
  expect(processes).toHaveLength(3);
  // Its configuration has the current health.
  expect(processes[2]!.got).toMatchObject([["serve", { health: [ready("a", 1)] }]]);
  processes[2]!.isReporting = true;
  processes[2]!.say(["listening", URLS]);
  await timers.advance(60_000);
  processes[2]!.die({ code: 1, signal: null });
  await flushPromises();
  await timers.advance(100);
  expect(processes).toHaveLength(4);
  expect(logger.records.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual([
    { pid: 1, cause: "by SIGSEGV", delayMs: 100 },
    { pid: 2, cause: "with code 1", delayMs: 200 },
    { pid: 3, cause: "with code 1", delayMs: 100 },
  ]);
  // A worker that cannot listen is replaced too.
  processes[3]!.say(["cannot listen", "rest", { message: "It is taken.", code: "EADDRINUSE" }]);
  await flushPromises();
  expect(processes[3]!.ended).toBe("killed");
});

it("an unresponsive worker is killed and replaced", async () => {
  const { timers, processes, logger, workers } = await setupServing();
  processes[0]!.isReporting = true;
  await timers.advance(41_000);
  expect(processes.map(({ ended }) => ended)).toEqual([undefined, "killed"]);
  expect(logger.records.filter(({ level }) => level === "error").map(({ fields }) => fields)).toEqual([{ pid: 2 }]);
  await timers.advance(100);
  expect([processes.length, workers.replaced]).toEqual([3, 1]);
});

it("closing and draining wait for calls and replace no worker", async () => {
  const { timers, processes, workers } = await setupServing();
  workers.drain();
  await flushPromises();
  expect(processes.map((process) => process.take())).toEqual([[["drain"]], [["drain"]]]);
  await workers.close();
  expect(processes.map(({ ended }) => ended)).toEqual(["released", "released"]);
  await timers.advance(60_000);
  expect(processes).toHaveLength(2);
});

it("closing does not wait for a worker that is starting", async () => {
  const { timers, processes, workers } = await setupServing(1);
  processes[0]!.die({ code: 1, signal: null });
  await flushPromises();
  await timers.advance(100);
  expect(processes).toHaveLength(2);
  await workers.close();
  expect(processes[1]!.ended).toBe("killed");
});

it("loads are summed over all workers, without waiting for unresponsive ones", async () => {
  const { timers, processes, workers } = await setupServing();
  const load = { connections: 2, requests: 1, requestBytes: 3, responseBytes: 4 };
  const refused = { connections: 1, "request rate": 0, "request bytes": 0, "answer bytes": 0 };
  const report = (subscriberCounts: WorkerReport["subscriberCounts"]) =>
    ({ loads: [["rest", { ...load, refused }]], calls: [], subscriberCounts }) as unknown as WorkerReport;
  const refreshing = workers.refresh();
  processes[0]!.say(["report", report([["head", 2]])]);
  processes[1]!.say([
    "report",
    report([
      ["head", 1],
      ["block", 1],
    ]),
  ]);
  await refreshing;
  expect([...workers.loads]).toEqual([
    [
      "rest",
      { connections: 4, requests: 2, requestBytes: 6, responseBytes: 8, refused: { ...refused, connections: 2 } },
    ],
  ]);
  expect([...workers.subscriberCounts]).toEqual([
    ["head", 3],
    ["block", 1],
  ]);
  const stuck = workers.refresh();
  await timers.advance(2000);
  await stuck;
});

it("a reload is complete when all workers have confirmed it or exited, without waiting for unresponsive ones", async () => {
  const { timers, processes, workers } = await setupServing(3);
  const settings = {} as GatewaySettings;
  let isComplete = false;
  const reloading = workers.reload(settings).then(() => {
    isComplete = true;
  });
  await flushPromises();
  for (const process of processes) expect(process.take()).toContainEqual(["reload", settings]);
  processes[0]!.say(["reloaded"]);
  // An earlier report confirms nothing.
  processes[1]!.say(["report", NOTHING]);
  processes[2]!.die({ code: 1, signal: null });
  await flushPromises();
  expect(isComplete).toBe(false);
  processes[1]!.say(["reloaded"]);
  await reloading;
  const stuck = workers.reload(settings);
  await timers.advance(2000);
  await stuck;
});

it("a worker keeps its own head floor unless it is lowered", () => {
  const health = new RemoteHealth({ health: [ready("a", 1)], headFloor: 1, finalityReverts: 0 }, () => {});
  let changes = 0;
  const end = health.onChange(() => changes++);
  health.raiseHeadFloor(5);
  health.updateHeadFloor(4, false);
  expect([health.headFloor, changes]).toEqual([5, 1]);
  health.updateHeadFloor(4, true);
  expect([health.headFloor, changes]).toEqual([4, 2]);
  end();
  health.updateHealth([ready("a", 2)]);
  expect([health.of("a").head?.slot, changes]).toEqual([2, 2]);
  // A reload may have removed it.
  expect(health.of("b").state).toBe("down");
});
