// Runs a benchmark, or lists them all: npm run bench -- [NAME [ARGUMENT...]]. Needs Node 24, as the program itself
// does.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { nearestName } from "../src/errors/nearest-name.ts";

interface Bench {
  about: string;
  /** What stands before the file on the command line of Node. */
  before?: readonly string[];
}

const ROOT = join(import.meta.dirname, "..");
const COLLECTING = ["--expose-gc"];
const FLAT = [...COLLECTING, "--max-semi-space-size=4"];

/** The first lines of a benchmark's own file say more, such as which arguments it takes. */
const BENCHES: Readonly<Record<string, Bench>> = {
  import: {
    about: "what the import of a block costs beside the state transition",
  },
  slots: {
    about: "what slots and epochs cost a node at which a million validators vote",
    before: [...COLLECTING, "--max-old-space-size=8192"],
  },
  "sync-import": {
    about: "how fast history is imported, against the state transition alone",
  },
  "long-run": {
    about: "how fast a dev chain goes, and whether its memory stays flat",
    before: FLAT,
  },
  "non-finality": {
    about: "what a thousand epochs without finality cost, and what is left of it afterwards",
    before: FLAT,
  },
  data: {
    about: "cost of blobs and columns on every KZG backend, and whether the main thread stays free",
  },
  "peer-sync": {
    about: "how fast nodes sync from each other, ours and Lodestar's",
    before: ["scripts/with-lodestar.js"],
  },
  network: {
    about: "several nodes in one network: agreement, late nodes, discovery, a crowd",
  },
  control: {
    about: "how fast a dev chain advances and skips slots when it is told to",
  },
  startup: {
    about: "from the start of the program to its first answer and to a finalized history",
  },
  "json-rpc": {
    about: "JSON-RPC requests a second, against a bare server of node:http",
  },
  indexer: {
    about: "how fast an indexer goes through the whole history of a chain",
  },
  proofs: {
    about: "how long a Merkle proof takes on a state with a million validators",
  },
  events: {
    about: "what many subscribers of live events cost, and whether each gets all",
    before: COLLECTING,
  },
  "mixed-load": {
    about: "whether a node stays as it is under half an hour of load",
  },
  adversary: {
    about: "what floods by a hostile peer cost a node that follows a chain",
    before: COLLECTING,
  },
  snapshots: {
    about: "how long a dev chain takes to remember a moment and to go back to it",
  },
  evm: {
    about: "cost of blocks, transactions and memory in the EVM",
    before: FLAT,
  },
  eth: {
    about: "eth_* calls a second, logs of 10,000 blocks and the time of a contract test, beside Anvil and EDR",
  },
  page: {
    about: "what the page for browsers weighs, how soon it shows a head, and what many of them cost the node",
  },
  scale: {
    about: "starts, long answers, epochs and disk of a node with a million validators",
  },
  gateway: {
    about: "what a gateway costs beside the node that it asks, and what its clients see when an upstream fails",
  },
  abuse: {
    about: "what attacks by clients cost those who only ask for the head",
  },
  writers: {
    about: "JSON writers of long responses, against the generic encoder",
  },
};

function list(): void {
  for (const [name, { about }] of Object.entries(BENCHES)) process.stdout.write(`${name.padEnd(12)} ${about}\n`);
}

/** The exit code. */
function run(name: string, args: readonly string[]): number {
  const bench = BENCHES[name];
  if (bench === undefined) {
    const nearest = nearestName(name, Object.keys(BENCHES));
    const advice = nearest === undefined ? '"npm run bench" lists all.' : `Did you mean ${nearest}?`;
    process.stderr.write(`fanal: the benchmark "${name}" is not known. ${advice}\n`);
    return 1;
  }
  const { error, status } = spawnSync(process.execPath, [...(bench.before ?? []), `bench/${name}.ts`, ...args], {
    cwd: ROOT,
    stdio: "inherit",
  });
  if (error) throw error;
  return status ?? 1;
}

const [name, ...args] = process.argv.slice(2);
if (name === undefined) list();
else process.exitCode = run(name, args);
