import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { ClosingStack } from "../../src/async/closing-stack.ts";
import { SYSTEM_TIMERS, type Timers } from "../../src/async/timers.ts";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import {
  AnnouncedBlocks,
  callGateway,
  headSlotOf,
  openGateway,
  Readers,
  slotsWithBlocks,
  spoilAll,
  spoilBody,
  untilState,
} from "../support/gateway/faults.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import { FaultyLink } from "../support/sockets/faulty-link.ts";

// Both upstreams are one node behind two links. It produces blocks on demand, so only the faults of the links differ.
let node: ProgramHere;
let restUrl: string;
let links: { first: FaultyLink; second: FaultyLink };

const opened = new ClosingStack();
afterAll(() => opened[Symbol.asyncDispose]());

beforeAll(async () => {
  const { path, remove } = removableDirectory();
  opened.defer(remove);
  // Capella is the newest fork whose chain does not load the trusted setup.
  const chain = ["--validators", "8", "--no-auto", "--warmup-epochs", "4", "--fork", "capella", "--data-dir", path];
  const whenDone = (end: () => Promise<void>) => opened.defer(end);
  node = await ProgramHere.dev([...chain, "--rest", "--rest-port", "0"], { whenDone });
  restUrl = (await node.untilLine(/REST is served at (http:\S+)/))[1]!;
  await node.untilLine(/Dev chain is running/);
  links = { first: await FaultyLink.to(restUrl), second: await FaultyLink.to(restUrl) };
  for (const link of Object.values(links)) opened.defer(() => link.close());
});

function lie(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("latin1").replaceAll(/"root":"0x.{8}/g, '"root":"0xdeadbeef'), "latin1");
}

it("with a quorum of two, an upstream with a wrong finalized root is detected", async () => {
  onTestFinished(() => links.second.mend());
  const gateway = await openGateway(links, { quorum: 2 });
  const ask = async () => {
    return JSON.parse(await callGateway(gateway, "get_v1_beacon_states_finality_checkpoints", ["head"]));
  };
  expect(await ask()).toMatchObject({ result: { finalized: { root: expect.stringMatching(/^0x(?!deadbeef)/) } } });
  links.second.pass(lie);
  const { error } = await ask();
  expect(error.message).toMatch(/Upstreams (first and second|second and first) disagree on /);
  expect(error.message).toMatch(/"0xdeadbeef\w*" on second/);
  expect(error.message).toMatch(/"0x(?!deadbeef)\w*" on first/);
});

/** Timers with which no upstream counts as slow or stuck, even on a busy machine. */
const PATIENT_TIMERS: Timers = { ...SYSTEM_TIMERS, now: () => SYSTEM_TIMERS.now() / 100 };

it("related requests go to one upstream, and submissions are not resent", async () => {
  const gateway = await openGateway(links, {}, PATIENT_TIMERS);
  const asked = (what: RegExp) =>
    Object.values(links).map(({ requests }) => requests.filter((line) => what.test(line)));
  const slot = await headSlotOf(node);
  const answeredBy: (string | null)[] = [];
  for (let turn = 1; turn <= 4; turn++) {
    const data = await fetch(`${gateway.restUrl}/eth/v1/validator/attestation_data?slot=${slot}&committee_index=0`);
    expect(data.status, await data.text()).toBe(200);
    answeredBy.push(data.headers.get("Fanal-Upstream"));
    await fetch(`${gateway.restUrl}/eth/v2/beacon/blocks/${turn}`);
  }
  expect(new Set(answeredBy).size).toBe(1);
  // All other requests go to the other upstream meanwhile.
  expect(asked(/blocks\/|attestation_data/).map((lines) => lines.length > 0)).toEqual([true, true]);

  for (const link of Object.values(links)) link.pass("truncate");
  onTestFinished(() => {
    for (const link of Object.values(links)) link.mend();
  });
  const response = await fetch(`${gateway.restUrl}/eth/v1/beacon/pool/voluntary_exits`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ message: { epoch: "0", validator_index: "3" }, signature: `0x${"11".repeat(96)}` }),
  });
  expect(response.status).toBeGreaterThanOrEqual(500);
  expect(await response.text()).toMatch(/unknown whether/);
  expect(asked(/POST .*voluntary_exits/).flat()).toHaveLength(1);
});

it("no read fails and every block is announced once when one upstream is cut off, truncates or corrupts responses", async () => {
  const gateway = await openGateway(links);
  const announced = await AnnouncedBlocks.listen(gateway);
  const subscriberCounts = await Readers.start(gateway, restUrl);
  const from = (await headSlotOf(node)) + 1;
  for (const fault of ["drop", "truncate", spoilAll, spoilBody] as const) {
    links.second.pass(fault);
    await node.call("dev_advance");
    await subscriberCounts.answered();
    links.second.mend();
    await node.call("dev_advance");
    await untilState(gateway, "second", "ready");
    expect(subscriberCounts.complaints, String(fault)).toEqual([]);
  }
  await subscriberCounts.end();
  const last = await headSlotOf(node);
  expect(await announced.upTo(last)).toEqual(await slotsWithBlocks(node, from, last));
  expect(subscriberCounts.complaints).toEqual([]);
});
