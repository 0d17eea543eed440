import { DOMAIN_VOLUNTARY_EXIT } from "@lodestar/params";
import { computeSigningRoot } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { advance, openDevChain } from "../support/chain/dev-chain.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import "./signals.test.ts";

const FEW = ["--validators", "8"];
/** Slow enough that the slot does not change during the test. */
const STANDING = ["--speed", "0.001"];

it("a stop during the warm-up works, and the next start finishes the warm-up", async () => {
  const flags = ["--data-dir", tempDirectory(), ...FEW, ...STANDING, "--warmup-epochs", "4"];
  const first = await ProgramHere.dev(flags);
  await first.callUntil<string>("getBeaconHead", (slot) => Number(slot) >= 3);
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  expect(first.output).not.toMatch(/Dev chain is running/);
  expect(first.output).not.toMatch(/ (WARN|ERROR|FATAL) /);

  const second = await ProgramHere.dev(flags);
  const [, resumedAt] = await second.untilLine(/Chain opened\s+head=(\d+)/);
  expect(Number(resumedAt)).toBeGreaterThanOrEqual(3);
  const [, slot, finalizedEpoch] = await second.untilLine(/Dev chain is running\s+slot=(\d+) finalizedEpoch=(\d+)/);
  expect([slot, finalizedEpoch]).toEqual(["32", "2"]);
  const replies = await second.batch(
    Array.from({ length: 32 }, (_, i) => ["get_v1_beacon_blocks_blockId_root", [i + 1]]),
  );
  // At most the slot of the stop has no block.
  expect(replies.filter(({ error }) => error !== undefined).length).toBeLessThanOrEqual(1);
});

it("pooled operations survive a restart and are included in a block", async () => {
  const dataDir = tempDirectory();
  const { devChain, close } = await openDevChain({ validators: 8, forks: [{ fork: "phase0", epoch: 0 }] }, dataDir);
  const { chain, config, keys } = devChain;
  await advance(devChain, 40);
  const message = { epoch: 4, validatorIndex: 3 };
  const domain = config.getDomain(chain.head.slot, DOMAIN_VOLUNTARY_EXIT, 32);
  const signingRoot = computeSigningRoot(ssz.phase0.VoluntaryExit, message, domain);
  const exit = { message, signature: keys.secretKey(3)!.sign(signingRoot).toBytes() };
  await chain.processor.voluntaryExit(exit);
  await close();

  const program = await ProgramHere.dev(["--data-dir", dataDir, ...FEW, "--speed", "100"]);
  await program.callUntil<string>("getBeaconHead", (slot) => Number(slot) > 42);
  const blocks = await program.batch([41, 42].map((slot) => ["get_v1_beacon_blocks_blockId", [slot]]));
  expect(blocks.flatMap(({ result }) => result?.message.body.voluntary_exits ?? [])).toEqual([
    ssz.phase0.SignedVoluntaryExit.toJson(exit),
  ]);
});

it("--reset starts a new chain, also with other parameters", async () => {
  const dataDir = tempDirectory();
  const first = await ProgramHere.dev(["--data-dir", dataDir, ...FEW, ...STANDING, "--warmup-epochs", "2"]);
  await first.untilLine(/Dev chain is running/);
  const { root: oldRoot } = await first.call("get_v1_beacon_blocks_blockId_root", ["head"]);
  await first.stop();

  const other = ["--data-dir", dataDir, "--validators", "9", ...STANDING, "--warmup-epochs", "1"];
  const second = await ProgramHere.dev([...other, "--reset"]);
  await second.untilLine(/Dev chain is running/);
  expect(await second.call("getBeaconHead")).toBe("8");
  expect((await second.reply("get_v1_beacon_headers_blockId", [oldRoot])).error).toMatchObject({ code: -32001 });
  const genesis = await second.call("get_v1_beacon_genesis");
  await second.stop();

  const third = await ProgramHere.dev(other);
  expect(await third.call("get_v1_beacon_genesis")).toEqual(genesis);
  expect(await third.call("getBeaconHead")).toBe("8");
});
