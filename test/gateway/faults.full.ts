import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ClosingStack } from "../../src/async/closing-stack.ts";
import { removableDirectory } from "../support/directories/removable-directory.ts";
import {
  AnnouncedBlocks,
  headSlotOf,
  openGateway,
  Readers,
  slotsWithBlocks,
  spoilAll,
  spoilBody,
  untilState,
} from "../support/gateway/faults.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import type { ProgramRun } from "../support/program/program-run.ts";
import { FaultyLink } from "../support/sockets/faulty-link.ts";

const DELAY_MILLIS = 400;

/** A node, and the link over which a gateway reaches it. */
interface Upstream<Run extends ProgramRun = ProgramRun> {
  program: Run;
  restUrl: string;
  link: FaultyLink;
}

/** Produces the chain. */
let first: Upstream;
/** Follows the chain, in a process that can be frozen and killed. */
let second: Upstream<Program>;

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
  // Capella is the newest fork whose chain does not load the trusted setup.
  const chain = ["--validators", "8", "--slot-seconds", "1", "--warmup-epochs", "4", "--fork", "capella"];
  first = await startUpstream(ProgramHere, ["dev", "--p2p", ...chain]);
  const [, network] = await first.program.untilLine(/Another node joins with: fanal node --network (\S+) /);
  second = await startUpstream(Program, ["node", "--network", network!]);
  const slot = await headSlotOf(first.program);
  const hasFollowed = (head: { head_slot: string }) => Number(head.head_slot) >= slot;
  await second.program.callUntil("getChainHead", hasFollowed);
});

it("no read fails, no head goes back, and every block is announced once, whatever happens to one upstream", async () => {
  const gateway = await openGateway({ first: first.link, second: second.link });
  const announced = await AnnouncedBlocks.listen(gateway);
  const subscriberCounts = await Readers.start(gateway, first.restUrl);
  await subscriberCounts.answered();

  const { link, program } = second;
  const faults: [name: string, begin: () => void, end: () => void][] = [
    ["cut", () => link.pass("drop"), () => link.mend()],
    ["slow", () => link.pass((bytes) => delay(DELAY_MILLIS, bytes)), () => link.mend()],
    ["noise", () => link.pass(spoilAll), () => link.mend()],
    ["spoiled bodies", () => link.pass(spoilBody), () => link.mend()],
    ["breaking off", () => link.pass("truncate"), () => link.mend()],
    ["frozen", () => program.child.kill("SIGSTOP"), () => program.child.kill("SIGCONT")],
  ];
  for (const [name, begin, end] of faults) {
    const slot = await headSlotOf(first.program);
    begin();
    await subscriberCounts.answered();
    // A frozen node falls behind, and serves an older head when it is used again.
    while (name === "frozen" && (await headSlotOf(first.program)) < slot + 2) await subscriberCounts.answered();
    end();
    await subscriberCounts.answered();
    expect(subscriberCounts.complaints, name).toEqual([]);
    await untilState(gateway, "second", "ready");
  }
  await program.kill();
  await untilState(gateway, "second", "down");
  await subscriberCounts.answered();
  await subscriberCounts.end();
  expect(subscriberCounts.complaints, "killed").toEqual([]);

  const last = await headSlotOf(first.program);
  const slots = await announced.upTo(last);
  expect(slots).toEqual(await slotsWithBlocks(first.program, slots[0]!, last));
});
