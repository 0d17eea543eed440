import { ForkName } from "@lodestar/params";
import { expect } from "vitest";
import { methods } from "../../../src/api/method-groups.ts";
import { GAUGED, readGauge } from "../abuse/gauged-node.ts";
import { ExampleDevChain } from "../example-chain.ts";
import { paramsOfExamples } from "../example-params.ts";
import { Program } from "../program.ts";
import { tempDirectory } from "../temp-directory.ts";
import { type FuzzReport, fuzz } from "./fuzz.ts";

interface FuzzRun {
  requests: number;
  seed: number;
}

/** Before memory is compared, so that what is loaded and compiled on first use does not count. */
const FIRST_REQUESTS = 1000;

const TELL_EVERY_REQUESTS = Number(process.env.SOAK_TELL_EVERY ?? 50_000);

const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

export interface FuzzedNodeReport extends FuzzReport {
  /** What the node's memory grew by, after collections. */
  growthBytes: number;
}

/** Fuzzes the real program on a dev chain that stands still, and expects it to live on without a complaint. */
export async function fuzzNode({ requests, seed }: FuzzRun): Promise<FuzzedNodeReport> {
  console.info(`The requests of this run are those of FANAL_TEST_SEED=${seed}.`);
  const examples = await ExampleDevChain.open(ForkName.fulu);
  const params = await paramsOfExamples(examples);
  await examples.close();
  const callables = methods.map((method) => ({ method, params: params.get(method.name)! }));
  const program = await Program.dev(
    [
      ...["--data-dir", tempDirectory(), "--validators", "16", "--fork", ForkName.fulu, "--speed", "0.001"],
      ...["--rest", "--rest-port", "0"],
    ],
    { execArgv: GAUGED },
  );
  await program.untilLine(/The dev chain is running/);
  const [, restUrl] = await program.untilLine(/REST is served at (http:\S+)/);
  const target = { jsonRpcUrl: program.url, restUrl: restUrl!, callables };

  const first = await fuzz({ ...target, requests: FIRST_REQUESTS, seed: seed - 1 });
  const { residentBytes: before } = await readGauge(program);
  const onProgress = async (sent: number) => {
    if (sent % TELL_EVERY_REQUESTS !== 0) return;
    const { residentBytes, heapBytes, externalBytes } = await readGauge(program);
    const [resident, heap, external] = [residentBytes, heapBytes, externalBytes].map(mebibytes);
    console.info(`After ${sent} requests: memory ${resident}, objects ${heap}, buffers ${external}.`);
  };
  const report = await fuzz({ ...target, requests, seed, onProgress });
  const { residentBytes: after } = await readGauge(program);

  expect([...first.defects, ...report.defects]).toEqual([]);
  expect(program.errors).toEqual([]);
  expect(program.lines.filter((line) => / (ERROR|FATAL) /.test(line))).toEqual([]);
  // It also stops as if nothing had been.
  expect(await program.stop()).toEqual({ code: 0, signal: null });
  return { ...report, growthBytes: after - before };
}
