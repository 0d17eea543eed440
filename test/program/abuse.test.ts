import { expect, it } from "vitest";
import { beginAttack, openTarget } from "../support/abuse/short-attacks.ts";

/** Each of these keeps a resource open. test/program/abuse.full.ts has all attacks. */
const ATTACKS_AT_STOP = ["half-sent bodies", "unread answers", "fragmented messages", "stalled readers of events"];

it("a node under attack answers other clients and stops", async () => {
  const { program, target } = await openTarget();
  const ends = ATTACKS_AT_STOP.map((name) => beginAttack(name, target));
  for (let asked = 0; asked < 5; asked++) expect(await program.call("getChainHead")).toHaveProperty("head_slot");
  expect(await program.stop()).toEqual({ code: 0, signal: null });
  expect(program.lines.filter((line) => / (ERROR|FATAL) /.test(line))).toEqual([]);
  await Promise.all(ends.map((end) => end()));
});
