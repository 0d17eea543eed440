import { expect, it, onTestFinished } from "vitest";
import type { Report } from "../../src/gateway/doctor/report.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { FanalChain } from "./fanal-chain.ts";
import { untilLevel } from "./following.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";
import { LodestarBeacon } from "./lodestar-beacon.ts";
import { type LodestarInstall, testWithCurrentLodestar } from "./lodestar-install.ts";

/** Runs `fanal doctor` on a Fanal and a Lodestar node of the same chain. */
async function diagnose(fork: string, install?: LodestarInstall): Promise<Report> {
  const chain = ["--fork", fork, "--validators", "16", "--warmup-epochs", "4"];
  const { fanal, networkDirectory, bootnodes } = await FanalChain.start(chain);
  const lodestar = await LodestarBeacon.joining({
    install,
    networkDirectory,
    bootnodes,
    dialsBootnodes: true,
    directory: tempDirectory(),
    whenDone: onTestFinished,
  });
  showLastLinesOnFailure("Lodestar", lodestar.processes);
  await lodestar.meanwhile(untilLevel(lodestar.rest, fanal.rest));
  const doctor = new Program(["doctor", fanal.rest.url, lodestar.rest.url, "--json"]);
  await doctor.exited;
  return JSON.parse(doctor.output) as Report;
}

/** Deviations of this Lodestar from the standard. Later versions conform. */
const DEVIATIONS = [
  /^GET \/eth\/v1\/beacon\/states\/\d+\/validators\?.*status=active/,
  /^GET \/eth\/v1\/beacon\/states\/\d+\/validator_balances\?/,
  /^GET \/eth\/v1\/beacon\/states\/\d+\/committees\?.*slot=/,
  /^GET \/eth\/v1\/beacon\/states\/\d+\/sync_committees\?/,
  /^GET \/eth\/v1\/config\/spec$/,
];

it("doctor reports the deviations of a Lodestar of 2023, and nothing else", async () => {
  const { upstreams, operations, differences, contradictions } = await diagnose("altair");
  expect(contradictions).toEqual([]);
  // It does not store the state of every finalized block.
  const unexpected = differences.filter(({ request }) => !DEVIATIONS.some((deviation) => deviation.test(request)));
  expect(unexpected).toEqual([]);
  const differing = expect.stringMatching(/^It answers .* otherwise than others do\.$/);
  expect(upstreams.map(({ problems }) => problems)).toEqual([
    [differing],
    ["One operation gave what the standard does not have there.", differing],
  ]);
  const syncing = operations.find(({ path }) => path === "/eth/v1/node/syncing");
  expect(syncing?.findings[1]).toMatchObject({ outcome: "wrong-form", reason: "data.el_offline is missing" });
});

testWithCurrentLodestar("doctor finds nothing wrong with a current one", async (install) => {
  const { upstreams, differences, contradictions } = await diagnose("fulu", install);
  expect({ differences, contradictions }).toEqual({ differences: [], contradictions: [] });
  expect(upstreams.flatMap(({ problems }) => problems)).toEqual([]);
});
