import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { inDataDirectory } from "../support/directories/data-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import { isFullTier, variants } from "../support/suite/tier.ts";

// Starts many programs, each of which may take long on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const FEW = ["--validators", "8"];
/** Slow enough that the slot does not change during the test. */
const STANDING = ["--speed", "0.001"];

interface ChainHead {
  head_slot: string;
  head_block_root: string;
}

// One real signal of each kind, the second one in the second tier. src/cli/run.test.ts has the others.

it("SIGTERM stops gracefully, and the next start continues at the same slot", async () => {
  const dataDir = tempDirectory();
  // Fifty slots per second: a clock that kept running while stopped would be far ahead.
  const flags = ["--data-dir", dataDir, ...FEW, "--warmup-epochs", "0"];
  const first = await Program.dev([...flags, "--speed", "100"]);
  // Would open Node's inspector, with a message on standard error.
  first.child.kill("SIGUSR1");
  await first.callUntil<string>("getBeaconHead", (slot) => Number(slot) > 8);
  const genesis = await first.call("get_v1_beacon_genesis");
  const before: ChainHead = await first.call("getChainHead");
  expect(await first.stop("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(first.output).toMatch(/Stopping; a second signal exits at once\s+signal=SIGTERM/);
  expect(first.lines.at(-1)).toMatch(/Stopped$/);
  expect(first.complaints).toEqual([]);
  expect(first.errors).toEqual([]);
  const { newest, clockSlot } = await inDataDirectory(dataDir, async (db) => ({
    newest: await db.hotBlocks.last(),
    clockSlot: await db.meta.getClockSlot(),
  }));

  const second = await ProgramHere.dev([...flags, ...STANDING]);
  await second.untilLine(/Dev chain is running/);
  const after: ChainHead = await second.call("getChainHead");
  expect(after).toMatchObject({ head_slot: String(newest!.slot), head_block_root: newest!.root });
  expect(clockSlot! - newest!.slot).toBeLessThanOrEqual(1);
  expect(await second.call("get_v1_beacon_genesis")).toEqual(genesis);
  expect(await second.call("get_v1_beacon_headers_blockId", [before.head_block_root])).toMatchObject({
    canonical: true,
  });
  // There is a state for every slot up to the clock's, and none after it.
  const { result: clockState } = await second.reply("get_v1_beacon_states_root", [clockSlot]);
  expect(clockState).toEqual({ root: expect.any(String) });
  const { error } = await second.reply("get_v1_beacon_states_root", [clockSlot! + 1]);
  expect(error).toMatchObject({ code: -32001 });
});

if (isFullTier) {
  it("a second SIGINT ends the process at once, with the signal", async () => {
    const flags = ["--data-dir", tempDirectory(), ...FEW, "--warmup-epochs", "0", "--max-streams", "500"];
    const program = await Program.dev(flags);
    const stuck = await unreadAnswer(program.url);
    program.child.kill("SIGINT");
    await program.untilLine(/Stopping; a second signal exits at once\s+signal=SIGINT/);
    // A signal right after the first counts as its echo, so it is repeated until it takes effect.
    let ended = false;
    const exited = program.exited.finally(() => {
      ended = true;
    });
    while (!ended) {
      program.child.kill("SIGINT");
      await Promise.race([exited, delay(50)]);
    }
    expect(await exited).toEqual({ code: null, signal: "SIGINT" });
    expect(program.output).toMatch(/Exiting without waiting for the node to stop/);
    stuck.destroy();
  });
}

/** Requests more than the socket buffers hold without reading, which keeps the server from closing. */
async function unreadAnswer(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  const call = { jsonrpc: "2.0", id: 1, method: "getBeaconState", params: ["genesis"] };
  const body = JSON.stringify(Array.from({ length: 500 }, () => call));
  socket.write(
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  // Its first bytes show that the call is running.
  await once(socket, "readable");
  return socket;
}

it.each(variants({ fast: [["flows", "1"]], full: [["stands still", "0"]] }))(
  "a call that moves the chain ends with a stop, and says so, where time %s",
  async (_how, speed) => {
    const flags = ["--data-dir", tempDirectory(), ...FEW, "--warmup-epochs", "1", "--speed", speed];
    const program = await ProgramHere.dev(flags);
    await program.untilLine(/Dev chain is running/);
    const { head_slot: before }: ChainHead = await program.call("getChainHead");
    const advanced = program.reply("dev_advance", [65_536]);
    await program.callUntil<ChainHead>("getChainHead", ({ head_slot }) => Number(head_slot) > Number(before) + 2);
    expect(await program.stop()).toEqual({ code: 0, signal: null });
    expect((await advanced).error).toMatchObject({ code: -32000, message: expect.stringContaining("shutting down") });
    expect(program.complaints).toEqual([]);
  },
);
