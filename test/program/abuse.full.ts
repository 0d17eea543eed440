import { expect, it } from "vitest";
import { ATTACKS } from "../support/abuse/attacks.ts";
import { beginAttack, openTarget } from "../support/abuse/short-attacks.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { MixedLoad } from "../support/program/mixed-load.ts";
import { Program } from "../support/program/program.ts";

/** A thousand calls or so. */
const LOAD_MILLIS = 1000;
/** Each of these keeps a resource open. */
const ATTACKS_AT_STOP = ["half-sent bodies", "unread answers", "fragmented messages", "stalled readers of events"];

it("a node at its maximum load answers every call", async () => {
  const program = await Program.dev(["--data-dir", tempDirectory(), "--warmup-epochs", "4"]);
  await program.untilLine(/Dev chain is running/);
  const load = new MixedLoad(await program.untilServed(), 16);
  load.slot = 4 * 8;
  await load.run(performance.now() + LOAD_MILLIS);
  expect(load.millis.length).toBeGreaterThan(0);
  expect(load.firstFailure).toBeUndefined();
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});

it("a node answers other clients during every attack", async () => {
  const { program, target } = await openTarget();
  for (const name of Object.keys(ATTACKS)) {
    const end = beginAttack(name, target);
    for (let asked = 0; asked < 5; asked++) {
      expect(await program.call("getChainHead"), name).toHaveProperty("head_slot");
    }
    await end();
  }
  expect(program.lines.filter((line) => / (ERROR|FATAL) /.test(line))).toEqual([]);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});

it("a node under attack answers other clients and stops", async () => {
  const { program, target } = await openTarget();
  const ends = ATTACKS_AT_STOP.map((name) => beginAttack(name, target));
  for (let asked = 0; asked < 5; asked++) expect(await program.call("getChainHead")).toHaveProperty("head_slot");
  expect(await program.stop()).toEqual({ code: 0, signal: null });
  expect(program.lines.filter((line) => / (ERROR|FATAL) /.test(line))).toEqual([]);
  await Promise.all(ends.map((end) => end()));
});
