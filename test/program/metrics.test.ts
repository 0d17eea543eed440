import { expect, test, vi } from "vitest";
import { EXIT_CODES } from "../../src/cli/exit.ts";
import { Program } from "../support/program.ts";
import { ProgramHere } from "../support/program-here.ts";
import { tempDirectory } from "../support/temp-directory.ts";

vi.setConfig({ testTimeout: 180_000 });

const devFlags = () => ["dev", "--validators", "8", "--warmup-epochs", "0", "--data-dir", tempDirectory(), "--metrics"];

test("the program serves metrics when it is told to, and says in one sentence that their port is in use", async () => {
  const program = new Program([...devFlags(), "--metrics-port", "0"]);
  const [, url] = await program.untilLine(/Metrics are served at (http:\S+)/);
  const { port } = new URL(url!);
  const second = new ProgramHere([...devFlags(), "--metrics-port", port]);
  expect(await second.exited).toEqual({ code: EXIT_CODES.listen, signal: null });
  expect(second.errors).toEqual([
    `fanal: Port ${port} of 127.0.0.1 is in use by another process; stop that one, or give another --metrics-port.`,
  ]);
  // The connection stays open, and does not keep the program from ending.
  expect(await (await fetch(url!)).text()).toContain("\nbeacon_current_active_validators 8\n");
  expect(await program.stop()).toEqual({ code: 0, signal: null });
});
