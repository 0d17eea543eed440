import { beforeEach, expect, test } from "vitest";
import { methods } from "../../src/api/method-groups.ts";
import { ProgramHere } from "../support/program-here.ts";
import type { RpcCall } from "../support/program-run.ts";
import { tempDirectory } from "../support/temp-directory.ts";

let program: ProgramHere;
beforeEach(async () => {
  const flags = ["--validators", "8", "--warmup-epochs", "0", "--speed", "100", "--graffiti", "from the flag"];
  program = await ProgramHere.dev(["--data-dir", tempDirectory(), ...flags]);
});

const headSlot = async () => Number(await program.call("getBeaconHead"));

async function untilHeadMovedBy(slots: number): Promise<number> {
  const start = await headSlot();
  return Number(await program.callUntil<string>("getBeaconHead", (slot) => Number(slot) >= start + slots));
}

const graffitiOf = (text: string) => `0x${Buffer.from(text).toString("hex").padEnd(64, "0")}`;

test("57 setLogLevel changes what is printed at once; what cannot be read changes nothing", async () => {
  expect(program.output).not.toMatch(/ DEBUG /);
  await untilHeadMovedBy(2);
  expect(await program.call("setLogLevel", ["info; DEBUG:chain"])).toBe(true);
  await program.untilLine(/ DEBUG chain .*Block imported/, { from: program.lines.length });

  expect(await program.call("setLogLevel", ["NOTICE; NOTICE:chain"])).toBe(true);
  for (const spec of ["LOUD", "", "DEBUG; chain", "DEBUG; LOUD:chain", 7, null]) {
    expect((await program.reply("setLogLevel", [spec])).error, String(spec)).toMatchObject({ code: -32602 });
  }
  expect((await program.reply("setLogLevel", [])).error).toMatchObject({ code: -32602 });
  expect(await program.call("setLogLevel", ["NOTICE; NOTICE:chain; DISABLED:chronos"])).toBe(true);
  await program.untilLine(/ WARN .*Ignored unknown log topics {2}unknown=\["chronos"\]/);
  await untilHeadMovedBy(2);
  const quietFrom = program.lines.length;
  // Three epochs, each of which would have been announced as finalized, and 24 blocks.
  await untilHeadMovedBy(24);
  expect(program.lines.slice(quietFrom)).toEqual([]);

  expect(await program.call("setLogLevel", ["INFO; INFO:chain"])).toBe(true);
  await program.untilLine(/ INFO {2}chain .*Finalized/, { from: quietFrom });
});

test("58 setGraffiti shows in the next blocks", async () => {
  const graffitiNow = async () => {
    const slot = await untilHeadMovedBy(2);
    return (await program.call("get_v1_beacon_blocks_blockId", [slot])).message.body.graffiti;
  };
  expect(await graffitiNow()).toBe(graffitiOf("from the flag"));
  const accepted: [given: string, shown: string][] = [
    ["a lighthouse 🗼", graffitiOf("a lighthouse 🗼")],
    ["ÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄ", graffitiOf("ÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄ")],
    ["0xDEad", `0xdead${"00".repeat(30)}`],
    ["0x", `0x${"00".repeat(32)}`],
  ];
  for (const [given, shown] of accepted) {
    expect(await program.call("setGraffiti", [given])).toBe(true);
    expect(await graffitiNow(), given).toBe(shown);
  }
  const refused = ["x".repeat(33), "ÄÖÜÄÖÜÄÖÜÄÖÜÄÖÜÄx", "0x123", "0xzz", `0x${"00".repeat(33)}`, 7, {}, true];
  for (const given of refused) {
    expect((await program.reply("setGraffiti", [given])).error, String(given)).toMatchObject({ code: -32602 });
  }
  expect(await graffitiNow()).toBe(`0x${"00".repeat(32)}`);
});

test("no method in the methods answers anything with an internal error", async () => {
  const names = methods.flatMap(({ name, aliases }) => [name, ...aliases]);
  const paramLists = [
    [],
    [null],
    [{}],
    [[]],
    ["x"],
    ["head"],
    [0],
    [-1],
    ["18446744073709551615", 0],
    [`0x${"5a".repeat(32)}`],
    [null, null, null],
    [1, 2, 3, 4, 5, 6],
    { nothing: 1 },
  ];
  for (const name of names) {
    const calls = paramLists.map((params): RpcCall => [name, params]);
    const replies = await program.batch(calls);
    for (const [position, { error }] of replies.entries()) {
      const asked = `${name}(${JSON.stringify(paramLists[position])}) ${error?.message}`;
      expect([-32601, -32603, -32000], asked).not.toContain(error?.code);
    }
  }
  // Some of them have let time stand still, and validators go offline.
  await program.call("dev_setValidators", ["all"]);
  await program.call("dev_setSpeed", [100]);
  await untilHeadMovedBy(1);
  expect(program.output).not.toMatch(/ (ERROR|FATAL) /);
});
