import { beforeEach, expect, it } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";

let program: ProgramHere;
beforeEach(async () => {
  const flags = ["--validators", "8", "--warmup-epochs", "0", "--no-auto", "--graffiti", "from the flag"];
  program = await ProgramHere.dev(["--data-dir", tempDirectory(), ...flags]);
});

const advance = (slots: number) => program.call("dev_advance", [slots]);

const graffitiOf = (text: string) => `0x${Buffer.from(text).toString("hex").padEnd(64, "0")}`;

it("57 setLogLevel takes effect at once; an invalid specification changes nothing", async () => {
  expect(program.output).not.toMatch(/ DEBUG /);
  await program.call("setLogLevel", ["info; DEBUG:chain"]);
  await advance(1);
  expect(program.output).toMatch(/ DEBUG chain .*Block imported/);

  expect(await program.call("setLogLevel", ["NOTICE; NOTICE:chain"])).toBe(true);
  for (const spec of ["LOUD", "", "DEBUG; chain", "DEBUG; LOUD:chain", 7, null]) {
    expect((await program.reply("setLogLevel", [spec])).error, String(spec)).toMatchObject({ code: -32602 });
  }
  expect((await program.reply("setLogLevel", [])).error).toMatchObject({ code: -32602 });
  expect(await program.call("setLogLevel", ["NOTICE; NOTICE:chain; DISABLED:chronos"])).toBe(true);
  await program.untilLine(/ WARN .*Ignored unknown log topics {2}unknown=\["chronos"\]/);
  const quietFrom = program.lines.length;
  // 32 blocks, and the first finalized epoch.
  await advance(32);
  expect(program.lines.slice(quietFrom)).toEqual([]);

  expect(await program.call("setLogLevel", ["INFO; INFO:chain"])).toBe(true);
  await advance(8);
  expect(program.lines.slice(quietFrom).join("\n")).toMatch(/ INFO {2}chain .*Finalized/);
});

it("58 setGraffiti applies to the next blocks", async () => {
  const graffitiNow = async () => {
    await advance(1);
    return (await program.call("get_v1_beacon_blocks_blockId", ["head"])).message.body.graffiti;
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
