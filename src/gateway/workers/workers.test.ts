import { expect, it } from "vitest";
import { FakeTimers, flushPromises } from "../../../test/support/fake-timers.ts";
import { createRecordingLogger } from "../../log/recording-logger.test-support.ts";
import type { Condition } from "../condition.ts";
import { EventFeeds } from "../events/event-feeds.ts";
import type { ToPrimary, ToWorker, WorkerOrder, WorkerReport } from "./protocol.ts";
import { RemoteConditions } from "./remote-conditions.ts";
import type { WorkerProcess } from "./worker-process.ts";
import { Workers } from "./workers.ts";

type How = { code: number | null; signal: string | null };

/** A process that does what the test says. */
class ScriptedProcess implements WorkerProcess {
  readonly pid: number;
  /** Every turn's messages. */
  readonly got: ToWorker[] = [];
  ended: "released" | "killed" | undefined;
  /** Whether it tells what it has observed as soon as it is asked. */
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

  /** What came since this was last asked, but for the order. */
  take(): ToWorker[] {
    return this.got.splice(0).filter(([kind]) => kind !== "serve");
  }
}

const NOTHING = { loads: [], calls: [], readers: [] } as unknown as WorkerReport;

const ready = (upstream: string, slot: number): Condition => ({
  upstream,
  fitness: "ready",
  reasons: [],
  head: { slot, root: "0x00" },
});

const ORDER = { isMeasured: true, isLogged: true } as WorkerOrder;
const URLS = { rest: "http://127.0.0.1:1" };

async function setup(count = 2) {
  const timers = new FakeTimers();
  const logger = createRecordingLogger();
  const conditions = new RemoteConditions({ conditions: [ready("a", 1)], floor: 1, rewinds: 0 }, () => {});
  const events = new EventFeeds({ conditions });
  const processes: ScriptedProcess[] = [];
  const noted: unknown[] = [];
  const starting = Workers.start({
    count,
    order: ORDER,
    conditions,
    office: {
      events,
      suspect: (...suspicion) => noted.push(suspicion),
      writeAccess: (lines) => noted.push(lines),
      observe: ({ calls }) => noted.push(calls),
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
  return { timers, logger, conditions, events, processes, noted, starting };
}

async function setupServing(count = 2) {
  const parts = await setup(count);
  for (const process of parts.processes) process.say(["listening", URLS]);
  const { workers, urls } = await parts.starting;
  for (const process of parts.processes) process.take();
  return { ...parts, workers, urls };
}

it("all workers serve the same, with what is known of the upstreams", async () => {
  const { processes, starting } = await setup();
  const order = [["serve", { ...ORDER, conditions: [ready("a", 1)], floor: 1, rewinds: 0 }]];
  expect(processes.map(({ got }) => got)).toEqual([order, order]);
  processes[0]!.say(["listening", URLS]);
  processes[1]!.say(["listening", URLS]);
  expect((await starting).urls).toEqual(URLS);
});

it("a start at which one cannot listen fails, and leaves none behind", async () => {
  const { processes, starting } = await setup();
  processes[0]!.say(["listening", URLS]);
  processes[1]!.say(["cannot listen", "rest", { message: "It is taken.", code: "EADDRINUSE" }]);
  await expect(starting).rejects.toMatchObject({ name: "ListenError", server: "rest", code: "EADDRINUSE" });
  expect(processes.map(({ ended }) => ended)).toEqual(["killed", "killed"]);
});

it("conditions are told once a turn, and the floor before the event that raised it", async () => {
  const { conditions, events, processes } = await setupServing();
  conditions.replace([ready("a", 2)]);
  conditions.replace([ready("a", 3)]);
  conditions.raiseFloor(3);
  events.tell({ topic: "head", data: Buffer.from("{}") });
  await flushPromises();
  const [first, second] = processes.map((process) => process.take());
  expect(first).toEqual([
    ["floor", 3, false],
    ["event", "head", Buffer.from("{}")],
    ["conditions", [ready("a", 3)]],
  ]);
  expect(second).toEqual(first);
  conditions.takeFloor(2, true);
  await flushPromises();
  expect(processes[0]!.take()).toContainEqual(["floor", 2, true]);
});

it("that the chain went back behind what was final is told before the event of it", async () => {
  const { conditions, events, processes } = await setupServing();
  conditions.takeRewinds(1);
  events.tell({ topic: "chain_reorg", data: Buffer.from("{}") });
  await flushPromises();
  expect(processes[1]!.take().slice(0, 2)).toEqual([
    ["rewinds", 1],
    ["event", "chain_reorg", Buffer.from("{}")],
  ]);
});

it("an event goes once to each worker where somebody reads it", async () => {
  const { events, processes } = await setupServing();
  const [first, second] = processes as [ScriptedProcess, ScriptedProcess];
  const attestation = { topic: "attestation", data: Buffer.from("1") };
  first.say(["follow", ["attestation", "voluntary_exit"]]);
  events.tell(attestation);
  await flushPromises();
  expect([first.take(), second.take()]).toEqual([[["event", "attestation", attestation.data]], []]);
  first.say(["follow", ["voluntary_exit"]]);
  events.tell(attestation);
  await flushPromises();
  expect(first.take()).toEqual([]);
  first.die({ code: 1, signal: null });
  expect([...events.topics].sort()).toEqual(["block", "chain_reorg", "finalized_checkpoint", "head"]);
});

it("what a worker tells comes to where it is needed", async () => {
  const { conditions, processes, noted, logger } = await setupServing();
  const [first, second] = processes as [ScriptedProcess, ScriptedProcess];
  const tied: ToPrimary & ToWorker = ["tied", { subject: "block", slot: 7 }, "a"];
  first.say(
    ["raise floor", 9],
    tied,
    ["suspect", "a", "It is silent."],
    ["access", "{}\n"],
    ["log", undefined, "warn", "Look.", { at: "this" }],
  );
  expect(conditions.floor).toBe(9);
  expect(noted).toEqual([["a", "It is silent."], "{}\n"]);
  expect(logger.records).toContainEqual({ level: "warn", message: "Look.", fields: { at: "this" } });
  await flushPromises();
  const got = second.take();
  expect(got).toContainEqual(["floor", 9, false]);
  expect(got).toContainEqual(tied);
  expect(first.take()).not.toContainEqual(tied);
});

it("a floor that is not believed is taken back", async () => {
  const { conditions, processes } = await setupServing(1);
  conditions.raiseFloor = () => {};
  processes[0]!.say(["raise floor", 2 ** 53]);
  await flushPromises();
  expect(processes[0]!.take()).toEqual([["floor", 1, true]]);
});

it("a worker that ends is replaced, later and later when that goes on, and its calls are no longer under way", async () => {
  const { timers, processes, noted, logger, workers } = await setupServing(1);
  const tally = { server: "rest" as const, method: "getChainHead", begun: 3, seconds: [0.1], errorCodes: [], bytes: 1 };
  processes[0]!.say(["report", { loads: [], calls: [tally], readers: [] } as unknown as WorkerReport]);
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
  // Its first order has what is known by now.
  expect(processes[2]!.got).toMatchObject([["serve", { conditions: [ready("a", 1)] }]]);
  processes[2]!.isReporting = true;
  processes[2]!.say(["listening", URLS]);
  await timers.advance(60_000);
  processes[2]!.die({ code: 1, signal: null });
  await flushPromises();
  await timers.advance(100);
  expect(processes).toHaveLength(4);
  expect(logger.records.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual([
    { pid: 1, millisToWait: 100 },
    { pid: 2, millisToWait: 200 },
    { pid: 3, millisToWait: 100 },
  ]);
  // One that cannot listen is of no use, either.
  processes[3]!.say(["cannot listen", "rest", { message: "It is taken.", code: "EADDRINUSE" }]);
  await flushPromises();
  expect(processes[3]!.ended).toBe("killed");
});

it("a worker that does not answer any more is ended and replaced", async () => {
  const { timers, processes, logger, workers } = await setupServing();
  processes[0]!.isReporting = true;
  await timers.advance(41_000);
  expect(processes.map(({ ended }) => ended)).toEqual([undefined, "killed"]);
  expect(logger.records.filter(({ level }) => level === "error").map(({ fields }) => fields)).toEqual([{ pid: 2 }]);
  await timers.advance(100);
  expect([processes.length, workers.replaced]).toEqual([3, 1]);
});

it("closing lets all finish, and replaces none, nor does what comes before it", async () => {
  const { timers, processes, workers } = await setupServing();
  workers.drain();
  await flushPromises();
  expect(processes.map((process) => process.take())).toEqual([[["drain"]], [["drain"]]]);
  await workers.close();
  expect(processes.map(({ ended }) => ended)).toEqual(["released", "released"]);
  await timers.advance(60_000);
  expect(processes).toHaveLength(2);
});

it("closing does not wait for one that does not serve yet", async () => {
  const { timers, processes, workers } = await setupServing(1);
  processes[0]!.die({ code: 1, signal: null });
  await flushPromises();
  await timers.advance(100);
  expect(processes).toHaveLength(2);
  await workers.close();
  expect(processes[1]!.ended).toBe("killed");
});

it("what is under way is that of all workers together, and one that is stuck is not waited for", async () => {
  const { timers, processes, workers } = await setupServing();
  const load = { connections: 2, requests: 1, requestBytes: 3, answerBytes: 4 };
  const refused = { connections: 1, "request rate": 0, "request bytes": 0, "answer bytes": 0 };
  const report = (readers: WorkerReport["readers"]) =>
    ({ loads: [["rest", { ...load, refused }]], calls: [], readers }) as unknown as WorkerReport;
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
    ["rest", { connections: 4, requests: 2, requestBytes: 6, answerBytes: 8, refused: { ...refused, connections: 2 } }],
  ]);
  expect([...workers.readers]).toEqual([
    ["head", 3],
    ["block", 1],
  ]);
  const stuck = workers.refresh();
  await timers.advance(2000);
  await stuck;
});

it("a worker keeps the floor that it has raised, unless it was let go", () => {
  const conditions = new RemoteConditions({ conditions: [ready("a", 1)], floor: 1, rewinds: 0 }, () => {});
  let changes = 0;
  const end = conditions.onChange(() => changes++);
  conditions.raiseFloor(5);
  conditions.takeFloor(4, false);
  expect([conditions.floor, changes]).toEqual([5, 1]);
  conditions.takeFloor(4, true);
  expect([conditions.floor, changes]).toEqual([4, 2]);
  end();
  conditions.replace([ready("a", 2)]);
  expect([conditions.of("a").head?.slot, changes]).toEqual([2, 2]);
  expect(() => conditions.of("b")).toThrow("There is no upstream that is called b.");
});
