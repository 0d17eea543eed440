import { expect, test } from "vitest";
import { ATTACKS } from "../support/abuse/attacks.ts";
import { Clients } from "../support/abuse/clients.ts";
import { targetOf } from "../support/abuse/siege.ts";
import { MixedLoad } from "../support/mixed-load.ts";
import { Program } from "../support/program.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** So few connections that any machine has them. */
const SCALE = 0.02;
/** Of which each keeps the node from closing something. */
const AT_THE_STOP = ["half-sent bodies", "unread answers", "fragmented messages", "stalled readers of events"];

/** A thousand calls or so. */
const LOAD_MILLIS = 1000;

test("a node under as much load as it takes answers all of it", async () => {
  const program = await Program.dev(["--data-dir", tempDirectory(), "--warmup-epochs", "4"]);
  await program.untilLine(/The dev chain is running/);
  const load = new MixedLoad(await program.untilServed(), 16);
  load.slot = 4 * 8;
  await load.run(performance.now() + LOAD_MILLIS);
  expect(load.millis.length).toBeGreaterThan(0);
  expect(load.firstFailure).toBeUndefined();
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});

test("a node answers others through every attack, and stops in the midst of some", async () => {
  const program = await Program.dev([
    ...["--data-dir", tempDirectory(), "--validators", "8", "--warmup-epochs", "2"],
    ...["--rest", "--rest-port", "0"],
  ]);
  await program.untilLine(/The dev chain is running/);
  const target = await targetOf(program);
  const begin = (name: string) => {
    const end = new AbortController();
    const over = ATTACKS[name]!(new Clients(target, end.signal, { scale: SCALE }));
    return () => {
      end.abort();
      return over;
    };
  };

  for (const name of Object.keys(ATTACKS)) {
    const end = begin(name);
    for (let asked = 0; asked < 5; asked++) {
      expect(await program.call("getChainHead"), name).toHaveProperty("head_slot");
    }
    await end();
  }
  expect(program.lines.filter((line) => / (ERROR|FATAL) /.test(line))).toEqual([]);

  const ends = AT_THE_STOP.map(begin);
  await program.call("getChainHead");
  expect(await program.stop()).toEqual({ code: 0, signal: null });
  await Promise.all(ends.map((end) => end()));
});
