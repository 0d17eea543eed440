import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { ClosingStack } from "../../src/closing-stack.ts";
import type { Fitness } from "../../src/gateway/condition.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import type { GatewayOptions } from "../../src/gateway/options.ts";
import { readFacts } from "../../src/gateway/read-facts.ts";
import { createRecordingLogger } from "../../src/log/recording-logger.test-support.ts";
import { SseClient } from "../../src/server/events/sse-client.test-support.ts";
import { SYSTEM_TIMERS, type Timers } from "../../src/timers.ts";
import { FaultyLink } from "../support/faulty-link.ts";
import { Program } from "../support/program.ts";
import { ProgramHere } from "../support/program-here.ts";
import type { ProgramRun } from "../support/program-run.ts";
import { removableDirectory } from "../support/removable-directory.ts";

// Programs are started; a machine that is busy with other tests may take its time for each.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const ANYWHERE = { host: "127.0.0.1", port: 0 };
const VALIDATORS = 8;
const READERS = 6;
/** How many answers clients get while a fault lasts. */
const READS = 120;
const DELAY_MILLIS = 400;
/** Between what a reader asks: often enough that every moment of a fault meets some of them, and no more of the processor than that. */
const PAUSE_MILLIS = 50;

/** A node, and the link over which a gateway reaches it. */
interface Upstream<Run extends ProgramRun = ProgramRun> {
  program: Run;
  restUrl: string;
  link: FaultyLink;
}

/** The chain is made by the first, and the second follows it. */
let first: Upstream;
/** Which is a process of its own, that can be frozen and killed. */
let second: Upstream<Program>;
/** The bytes by which the node itself answers what is asked for under a path, and which cannot change any more. */
const finalAnswers = new Map<string, string>();

const opened = new ClosingStack();
afterAll(() => opened[Symbol.asyncDispose]());

async function startUpstream<Run extends ProgramRun>(
  kind: { served(args: readonly string[], options: { whenDone(end: () => Promise<void>): void }): Promise<Run> },
  args: readonly string[],
): Promise<Upstream<Run>> {
  const { path, remove } = removableDirectory();
  opened.defer(remove);
  const own = ["--data-dir", path, "--p2p-port", "0", "--p2p-address", "127.0.0.1", "--rest", "--rest-port", "0"];
  const program = await kind.served([...args, ...own], { whenDone: (end) => opened.defer(end) });
  const [, restUrl] = await program.untilLine(/REST is served at (http:\S+)/);
  const link = await FaultyLink.to(restUrl!);
  opened.defer(() => link.close());
  return { program, restUrl: restUrl!, link };
}

beforeAll(async () => {
  // The last fork in which no node makes itself ready for blobs, which takes each of them seconds.
  const fork = ["--fork", "capella"];
  const chain = ["--validators", String(VALIDATORS), "--slot-seconds", "1", "--warmup-epochs", "4", ...fork];
  first = await startUpstream(ProgramHere, ["dev", "--p2p", ...chain]);
  const [, network] = await first.program.untilLine(/Another node joins with: fanal node --network (\S+) /);
  second = await startUpstream(Program, ["node", "--network", network!]);
  const { head_slot } = await first.program.call("getChainHead");
  const hasFollowed = (head: { head_slot: string }) => Number(head.head_slot) >= Number(head_slot);
  await second.program.callUntil("getChainHead", hasFollowed);
  for (let slot = 1; slot <= 8; slot++) {
    const path = `/eth/v2/beacon/blocks/${slot}`;
    finalAnswers.set(path, await (await fetch(first.restUrl + path)).text());
  }
});

/** A gateway that keeps nothing, so that everything is asked of the upstreams, and that lives as long as the test. */
async function openGateway(options: Partial<GatewayOptions> = {}, timers?: Timers): Promise<Gateway> {
  const logger = createRecordingLogger();
  const upstreams = Object.entries({ first, second }).map(([name, { link }]) => {
    return { name, url: link.url, tier: 0, weight: 1 };
  });
  const facts = await readFacts(upstreams, new AbortController().signal, logger);
  const gateway = await Gateway.open({
    options: { upstreams, quorum: 1, broadcast: 1, memoryBytes: 0, maxSlotsBehind: 3, hedgeMillis: 300, ...options },
    facts,
    served: { limits: {}, jsonRpc: ANYWHERE, rest: ANYWHERE },
    workers: 1,
    timers,
    logger,
  });
  onTestFinished(() => gateway.close());
  for (const { name } of upstreams) await until(gateway, name, "ready");
  return gateway;
}

async function until(gateway: Gateway, upstream: string, fitness: Fitness): Promise<void> {
  const { conditions } = gateway;
  while (conditions.of(upstream).fitness !== fitness) {
    await new Promise<void>((resolve) => {
      const stop = conditions.onChange(() => {
        stop();
        resolve();
      });
    });
  }
}

async function headSlotOf({ program }: Upstream): Promise<number> {
  return Number((await program.call("getChainHead")).head_slot);
}

async function call({ jsonRpcUrl }: Gateway, method: string, params: unknown[]): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await fetch(jsonRpcUrl!, { method: "POST", headers, body })).text();
}

/** Clients that ask a gateway over and over, and accept nothing but right answers. */
class Readers {
  /** Of what is wrong with answers. */
  readonly complaints: string[] = [];
  readonly #gateway: Gateway;
  readonly #done: Promise<unknown>;
  #count = 0;
  #isOver = false;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#done = Promise.all(Array.from({ length: READERS }, (_, reader) => this.#read(reader)));
  }

  /** While they get many more answers. */
  async answered(): Promise<void> {
    const enough = this.#count + READS;
    while (this.#count < enough && this.complaints.length === 0) await delay(5);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  async #read(reader: number): Promise<void> {
    const paths = [...finalAnswers.keys()];
    let lastHead = 0;
    for (let turn = reader; !this.#isOver; turn++) {
      const path = paths[turn % paths.length]!;
      const block = await this.#get(path);
      if (block !== finalAnswers.get(path)) this.#complain(`${path}: ${block}`);
      const index = String(turn % VALIDATORS);
      const validator = await this.#get(`/eth/v1/beacon/states/head/validators/${index}`);
      if (!validator.includes(`"index":"${index}"`)) this.#complain(`validator ${index}: ${validator}`);
      const head = await call(this.#gateway, "get_v1_beacon_headers_blockId", ["head"]);
      const slot = Number(/"slot":"(\d+)"/.exec(head)?.[1]);
      if (!(slot >= lastHead)) this.#complain(`The head was ${lastHead}, then: ${head}`);
      lastHead = slot;
      this.#count += 3;
      await delay(PAUSE_MILLIS);
    }
  }

  #complain(what: string): void {
    const { conditions } = this.#gateway;
    const states = conditions.all.map(({ upstream, fitness, reasons }) => [upstream, fitness, ...reasons].join(" "));
    this.complaints.push(`${what}; ${states.join(", ")}; floor ${conditions.floor}`);
  }

  async #get(path: string): Promise<string> {
    return (await fetch(this.#gateway.restUrl + path)).text();
  }
}

/** Leaves the head of an answer as it is. */
function spoilBody(bytes: Buffer): Buffer {
  const from = bytes.indexOf("\r\n\r\n") + 4;
  return Buffer.concat([bytes.subarray(0, from), Buffer.alloc(bytes.length - from, "#")]);
}

function lie(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("latin1").replaceAll(/"root":"0x.{8}/g, '"root":"0xdeadbeef'), "latin1");
}

test("with a quorum of two, an upstream that lies about a finalized root is found out", async () => {
  onTestFinished(() => second.link.mend());
  const gateway = await openGateway({ quorum: 2 });
  const ask = async () => JSON.parse(await call(gateway, "get_v1_beacon_states_finality_checkpoints", ["head"]));
  expect(await ask()).toMatchObject({ result: { finalized: { root: expect.stringMatching(/^0x(?!deadbeef)/) } } });
  second.link.pass(lie);
  const { error } = await ask();
  expect(error.message).toMatch(/The upstreams (first and second|second and first) do not agree/);
  expect(error.message).toMatch(/second says .*0xdeadbeef/);
  expect(error.message).toMatch(/first says .*0x(?!deadbeef)/);
});

/** Of a gateway that takes no upstream for slow or stuck, as one that a busy machine leaves little time may be. */
const PATIENT_TIMERS: Timers = { ...SYSTEM_TIMERS, now: () => SYSTEM_TIMERS.now() / 100 };

test("what belongs together is asked of one upstream, and what was submitted is not sent again", async () => {
  const gateway = await openGateway({}, PATIENT_TIMERS);
  const asked = (what: RegExp) => [first, second].map(({ link }) => link.requests.filter((line) => what.test(line)));
  const slot = await headSlotOf(second);
  const answeredBy: (string | null)[] = [];
  for (let turn = 1; turn <= 4; turn++) {
    const data = await fetch(`${gateway.restUrl}/eth/v1/validator/attestation_data?slot=${slot}&committee_index=0`);
    expect(data.status, await data.text()).toBe(200);
    answeredBy.push(data.headers.get("Fanal-Upstream"));
    await fetch(`${gateway.restUrl}/eth/v2/beacon/blocks/${turn}`);
  }
  expect(new Set(answeredBy).size).toBe(1);
  // The other one is asked all else meanwhile.
  expect(asked(/blocks\/|attestation_data/).map((lines) => lines.length > 0)).toEqual([true, true]);

  for (const { link } of [first, second]) link.pass("answers break off");
  onTestFinished(() => {
    for (const { link } of [first, second]) link.mend();
  });
  const response = await fetch(`${gateway.restUrl}/eth/v1/beacon/pool/voluntary_exits`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ message: { epoch: "0", validator_index: "3" }, signature: `0x${"11".repeat(96)}` }),
  });
  expect(response.status).toBeGreaterThanOrEqual(500);
  expect(await response.text()).toMatch(/not known/);
  expect(asked(/POST .*voluntary_exits/).flat()).toHaveLength(1);
});

test("no read fails, no head goes back and no block is missed or told twice, whatever happens to one upstream", async () => {
  const gateway = await openGateway();
  const events = await SseClient.connect(`${gateway.restUrl}/eth/v1/events?topics=block`);
  const told: number[] = [];
  const telling = (async () => {
    for (;;) told.push(Number(((await events.events.next()).data as { slot: string }).slot));
  })();
  telling.catch(() => {});
  const readers = new Readers(gateway);
  await readers.answered();

  const faults: [name: string, begin: () => void, end: () => void][] = [
    ["cut", () => second.link.pass("nothing passes"), () => second.link.mend()],
    ["slow", () => second.link.pass((bytes) => delay(DELAY_MILLIS, bytes)), () => second.link.mend()],
    ["noise", () => second.link.pass((bytes) => Buffer.alloc(bytes.length, "#")), () => second.link.mend()],
    ["spoiled bodies", () => second.link.pass(spoilBody), () => second.link.mend()],
    ["breaking off", () => second.link.pass("answers break off"), () => second.link.mend()],
    ["frozen", () => second.program.child.kill("SIGSTOP"), () => second.program.child.kill("SIGCONT")],
  ];
  for (const [name, begin, end] of faults) {
    const slot = await headSlotOf(first);
    begin();
    await readers.answered();
    // The second falls behind, and is asked again with an older head.
    while (name === "frozen" && (await headSlotOf(first)) < slot + 2) await readers.answered();
    end();
    await readers.answered();
    expect(readers.complaints, name).toEqual([]);
    await until(gateway, "second", "ready");
  }
  await second.program.kill();
  await until(gateway, "second", "down");
  await readers.answered();
  await readers.end();
  expect(readers.complaints, "killed").toEqual([]);

  const [from] = told as [number];
  const last = await headSlotOf(first);
  while (Math.max(...told) < last) await delay(20);
  const blocks = await first.program.batch(
    Array.from({ length: last - from + 1 }, (_, index) => ["get_v1_beacon_headers_blockId", [from + index]]),
  );
  const slots = blocks.flatMap(({ result }) => (result ? [Number(result.header.message.slot)] : []));
  // Blocks are told by whoever has them first.
  expect(told.filter((slot) => slot <= last).toSorted((a, b) => a - b)).toEqual(slots);
});
