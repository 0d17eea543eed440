import { describe, expect, it } from "vitest";
import type { PendingPromise } from "../../../src/debug/promise-tracker.ts";
import { Caller } from "../../support/api/caller.ts";
import { openDevChain, QUIET } from "../../support/chain/dev-chain.ts";
import { tempDirectory } from "../../support/directories/temp-directory.ts";
import { Program } from "../../support/program/program.ts";
import { isFullTier } from "../../support/suite/tier.ts";

const HEADS = 16;

describe("debug_getChronosFutures", () => {
  it("is rejected unless futures are tracked, with the flag to enable it", async () => {
    const { devChain } = await openDevChain(QUIET);
    const caller = new Caller(devChain.api);
    const error = await caller.error("debug_getChronosFutures");
    expect(error.code).toBe(-32004);
    expect(error.message).toContain("--track-futures");
    expect(await caller.error("getChronosFutures")).toEqual(error);
    expect(await caller.error("debug_getChronosFutures", [1])).toMatchObject({ code: -32602 });
  });

  if (isFullTier) {
    it("lists pending promises of the program", async () => {
      const dataDir = tempDirectory();
      const flags = ["--validators", "8", "--warmup-epochs", "0", "--data-dir", dataDir, "--track-futures"];
      const program = await Program.dev(flags);
      const futures = (await program.call("debug_getChronosFutures")) as PendingPromise[];

      for (const future of futures) {
        expect(Object.keys(future)).toEqual(["id", "child_id", "procname", "filename", "line", "state"]);
        expect(future.id).toMatch(/^[1-9][0-9]*$/);
        expect(future.child_id).toMatch(/^([1-9][0-9]*)?$/);
        expect(future.procname).not.toBe("");
        expect(future.filename).not.toMatch(/^(\/|file:|[A-Z]:)/);
        expect(Number.isInteger(future.line)).toBe(true);
        expect(future.state).toBe("Pending");
      }
      expect(new Set(futures.map(({ id }) => id)).size).toBe(futures.length);
      // The program awaits the end of the node during its whole life.
      const waiting = futures.filter(({ filename }) => filename === "src/cli/run.ts");
      expect(waiting.map(({ procname }) => procname)).toContain("runUntilStopped");
      const ids = new Set(futures.map(({ id }) => id));
      expect(futures.some(({ child_id }) => ids.has(child_id))).toBe(true);

      // Settled promises are no longer listed.
      const calls = Array.from({ length: 300 }, (): [string] => ["getChainHead"]);
      for (let round = 0; round < 3; round++) await program.batch(calls);
      const later = (await program.call("getChronosFutures")) as PendingPromise[];
      expect(later.length).toBeLessThan(futures.length + 300);

      // Forkchoice updates leave no pending promises.
      await program.call("dev_advance", [HEADS]);
      const atHead = (await program.call("getChronosFutures")) as PendingPromise[];
      expect(atHead.filter(({ filename }) => filename === "src/chain/engine/engine-notifier.ts").length).toBeLessThan(
        HEADS,
      );
      expect(await program.stop()).toEqual({ code: 0, signal: null });
    });
  }
});
