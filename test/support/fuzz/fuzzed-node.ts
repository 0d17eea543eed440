import { ForkName } from "@lodestar/params";
import { expect } from "vitest";
import { methods } from "../../../src/api/method-groups.ts";
import { GAUGED, readGauge } from "../abuse/gauged-node.ts";
import { ExampleDevChain } from "../api/example-chain.ts";
import { paramsOfExamples } from "../api/example-params.ts";
import { tempDirectory } from "../directories/temp-directory.ts";
import { Program } from "../program/program.ts";
import { type FuzzReport, fuzz } from "./fuzz.ts";

interface FuzzRun {
  /** Warm-up requests before the first memory reading, which exclude lazily loaded and compiled code. */
  firstRequests: number;
  requests: number;
  seed: number;
}

const TELL_EVERY_REQUESTS = Number(process.env.SOAK_TELL_EVERY ?? 50_000);

const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

/** Kinds of responses that must occur, since they show that requests reach all parts of the servers. */
export const KINDS_OF_ANSWERS: readonly string[] = [
  ...["result", "-32700", "-32600", "-32602", "-32001"],
  ...["HTTP 200", "HTTP 400", "HTTP 404", "HTTP 101"],
];

interface FuzzedNodeReport extends FuzzReport {
  /** Growth after garbage collection: total memory, and that of objects and buffers. */
  growth: { residentBytes: number; heldBytes: number };
}

/** Fuzzes the real program on a paused dev chain, and expects it to survive without warnings. */
export async function fuzzNode({ firstRequests, requests, seed }: FuzzRun): Promise<FuzzedNodeReport> {
  console.info(`The requests of this run are those of FANAL_TEST_SEED=${seed}.`);
  const examples = await ExampleDevChain.open(ForkName.fulu);
  const params = await paramsOfExamples(examples);
  await examples.close();
  // Excludes methods that control the dev chain, since they would affect all other requests.
  const callables = methods
    .filter(({ access }) => access !== "dev")
    .map((method) => ({ method, params: params.get(method.name) ?? [] }));
  const program = await Program.dev(
    [
      ...["--data-dir", tempDirectory(), "--validators", "16", "--fork", ForkName.fulu],
      ...["--warmup-epochs", "1", "--speed", "0.001", "--rest", "--rest-port", "0"],
    ],
    { execArgv: GAUGED },
  );
  await program.untilLine(/Dev chain is running/);
  const [, restUrl] = await program.untilLine(/REST is served at (http:\S+)/);
  const target = { jsonRpcUrl: program.url, restUrl: restUrl!, callables };

  const first = await fuzz({ ...target, requests: firstRequests, seed: seed - firstRequests });
  const before = await readGauge(program);
  const onProgress = async (sent: number) => {
    if (sent % TELL_EVERY_REQUESTS !== 0) return;
    const { residentBytes, heapBytes, externalBytes } = await readGauge(program);
    const [resident, heap, external] = [residentBytes, heapBytes, externalBytes].map(mebibytes);
    console.info(`After ${sent} requests: memory ${resident}, objects ${heap}, buffers ${external}.`);
  };
  const report = await fuzz({ ...target, requests, seed, onProgress });
  const after = await readGauge(program);

  expect([...first.defects, ...report.defects]).toEqual([]);
  expect(program.errors).toEqual([]);
  expect(program.lines.filter((line) => / (ERROR|FATAL) /.test(line))).toEqual([]);
  // It must also stop gracefully.
  expect(await program.stop()).toEqual({ code: 0, signal: null });
  return {
    ...report,
    growth: {
      residentBytes: after.residentBytes - before.residentBytes,
      heldBytes: after.heapBytes + after.externalBytes - before.heapBytes - before.externalBytes,
    },
  };
}
