// Runs a benchmark, or lists them all: npm run bench -- [NAME [ARGUMENT...]]. Needs Node 24, as the program itself
// does.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { nearestName } from "../src/errors/nearest-name.ts";

interface Bench {
  about: string;
  /** Options of Node. */
  nodeOptions?: readonly string[];
}

const ROOT = join(import.meta.dirname, "..");
const EXPOSE_GC = ["--expose-gc"];
const SMALL_HEAP = [...EXPOSE_GC, "--max-semi-space-size=4"];

/** The first lines of a benchmark's file document its arguments. */
const BENCHES: Readonly<Record<string, Bench>> = {
  import: {
    about: "cost of a block import beside its state transition, speed of importing and syncing a history",
  },
  "non-finality": {
    about: "cost of a thousand epochs without finality, during and after",
    nodeOptions: SMALL_HEAP,
  },
  control: {
    about: "slots per second of dev_advance and dev_skip, time of snapshots",
  },
  startup: {
    about: "time from the start to the first answer and to a finalized history",
  },
  vitest: {
    about: "eight vitest files with a chain each or one for all, beside Anvil",
  },
  "json-rpc": {
    about: "JSON-RPC requests per second, against a bare node:http server",
  },
  "mixed-load": {
    about: "memory and latency of a node under half an hour of mixed load",
  },
  adversary: {
    about: "cost of floods from a hostile peer to a node that follows a chain",
    nodeOptions: EXPOSE_GC,
  },
  evm: {
    about: "cost of blocks, transactions and memory in the EVM",
    nodeOptions: SMALL_HEAP,
  },
  "heavy-calls": {
    about: "blocks and latency of a dev chain while clients make the heaviest calls",
  },
  "worst-block": {
    about: "time of a full block of each heavy opcode and precompile",
    nodeOptions: SMALL_HEAP,
  },
  eth: {
    about: "eth_* calls per second, logs of 10,000 blocks and the time of a contract test, beside Anvil and EDR",
  },
  scale: {
    about: "starts, long answers, epochs and disk of a node with a million validators",
  },
  "head-selection": {
    about: "time of fork choice with a million votes, on gloas beside fulu",
  },
  gateway: {
    about: "cost of a gateway beside its upstream, and failed reads when an upstream fails",
  },
  abuse: {
    about: "latency of other clients during attacks on the servers",
  },
  writers: {
    about: "JSON writers of long responses, against the generic encoder",
  },
};

function list(): void {
  for (const [name, { about }] of Object.entries(BENCHES)) process.stdout.write(`${name.padEnd(12)} ${about}\n`);
}

/** Returns the exit code. */
function run(name: string, args: readonly string[]): number {
  const bench = BENCHES[name];
  if (bench === undefined) {
    const nearest = nearestName(name, Object.keys(BENCHES));
    const advice = nearest === undefined ? '"npm run bench" lists all.' : `Did you mean ${nearest}?`;
    process.stderr.write(`fanal: the benchmark "${name}" is not known. ${advice}\n`);
    return 1;
  }
  const { error, status } = spawnSync(process.execPath, [...(bench.nodeOptions ?? []), `bench/${name}.ts`, ...args], {
    cwd: ROOT,
    stdio: "inherit",
  });
  if (error) throw error;
  return status ?? 1;
}

const [name, ...args] = process.argv.slice(2);
if (name === undefined) list();
else process.exitCode = run(name, args);
