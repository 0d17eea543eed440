import { join } from "node:path";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { median } from "../support/statistics.ts";
import { megabytes, milliseconds, printHeader, printRow, seconds } from "../support/table.ts";
import { withTempDirectory } from "../support/temp-directory.ts";
import { BareServer } from "./bare-server.ts";
import { Probe, Reader, rpcBody, withMemory } from "./clients.ts";
import { copyWithGenesisTime } from "./kept-state.ts";
import type { ReadRequest } from "./reader-process.ts";
import { type Program, ScaleNode } from "./scale-node.ts";
import { SECONDS_PER_SLOT, STATE_SLOT } from "./state.ts";
import type { Bench } from "./subject.ts";

const DUTIES = 50_000;
const IDS = 100;
/** Requests per round for short answers. */
const SHORT_TIMES = 50;

const SMALL_CALL = [{ title: "getChainHead", body: rpcBody("getChainHead", []) }];

interface Answer extends ReadRequest {
  title: string;
  server: "JSON-RPC" | "REST";
  path: string;
  concurrency: number;
  times: number;
}

const ONCE = { concurrency: 1, times: 1 };

function rpc(title: string, method: string, params: unknown[], how = ONCE): Answer {
  const headers = { "Content-Type": "application/json" };
  return { title, server: "JSON-RPC", path: "/", method: "POST", headers, body: rpcBody(method, params), ...how };
}

function rest(title: string, path: string, accept = "application/json"): Answer {
  return { title, server: "REST", path, method: "GET", headers: { Accept: accept }, body: "", ...ONCE };
}

function answers(validators: number): Answer[] {
  const every = (count: number) =>
    Array.from({ length: count }, (_, position) => String(Math.floor((position * validators) / count)));
  const VALIDATORS = "get_v1_beacon_states_stateId_validators";
  const epoch = String(computeEpochAtSlot(STATE_SLOT));
  return [
    rpc("all validators", VALIDATORS, ["head"]),
    rest("all validators", "/eth/v1/beacon/states/head/validators"),
    rpc("all validators, four at once", VALIDATORS, ["head"], { concurrency: 4, times: 1 }),
    rpc("all balances", "get_v1_beacon_states_stateId_validator_balances", ["head"]),
    rpc("all identities", "post_v1_beacon_states_stateId_validator_identities", ["head"]),
    rpc("whole state", "get_v1_debug_beacon_states_stateId", ["head"]),
    rest("whole state", "/eth/v2/debug/beacon/states/head"),
    rest("whole state as SSZ", "/eth/v2/debug/beacon/states/head", "application/octet-stream"),
    rpc("committees of an epoch", "get_v1_beacon_states_stateId_committees_epoch", ["head"]),
    rpc(`attester duties of ${DUTIES} indices`, "post_v1_validator_duties_attester", [
      epoch,
      every(Math.min(DUTIES, validators)),
    ]),
    rpc(`${IDS} validators`, VALIDATORS, ["head", every(Math.min(IDS, validators))], {
      concurrency: 1,
      times: SHORT_TIMES,
    }),
    rpc("validators that have exited", VALIDATORS, ["head", [], ["exited"]]),
  ];
}

/** Compares long answers of the node with a bare server that sends the same bytes to the same reader. */
export async function benchAnswers(bench: Bench): Promise<void> {
  for (const program of bench.programs) {
    console.log(`\n### Answers about ${bench.kept.validators} validators: ${program.title}\n`);
    printHeader(
      "answer",
      "size",
      "Fanal",
      "bare",
      "Fanal/bare",
      "longest small call, Fanal",
      "longest small call, bare",
      "more memory",
    );
    await benchProgram(program, bench);
  }
}

function benchProgram(program: Program, { kept, rounds, isWanted }: Bench): Promise<void> {
  return withTempDirectory(async (directory) => {
    const genesisTime = Math.floor(Date.now() / 1000) - STATE_SLOT * SECONDS_PER_SLOT;
    const stateFile = copyWithGenesisTime(kept, genesisTime, directory);
    const [node, bare, reader, probe] = await Promise.all([
      ScaleNode.start(program, { ...kept, stateFile, dataDir: join(directory, "data") }),
      BareServer.start(),
      Reader.start(),
      Probe.start(),
    ]);
    try {
      for (const answer of answers(kept.validators)) {
        if (!isWanted(answer.title)) continue;
        await measure(answer, { node, bare, reader, probe, rounds, savedFile: join(directory, "answer") });
      }
    } finally {
      await Promise.all([bare.end(), reader.end(), probe.end()]);
      await node.stop();
    }
  });
}

interface Measurement {
  node: ScaleNode;
  bare: BareServer;
  reader: Reader;
  probe: Probe;
  rounds: number;
  savedFile: string;
}

interface Round {
  millis: number;
  longestSmallCall: number;
}

async function measure(answer: Answer, { node, bare, reader, probe, rounds, savedFile }: Measurement): Promise<void> {
  const { title, server, path, concurrency, times, ...request } = answer;
  const url = server === "REST" ? node.restUrl + path : node.url;
  // The first read is also the warm-up.
  const { bytes } = await reader.read({ ...request, url, concurrency: 1, times: 1, saveTo: savedFile });
  await bare.load(savedFile);

  const round = async (url: string, smallUrl: string): Promise<Round> => {
    await probe.begin(smallUrl, SMALL_CALL);
    const { millis } = await reader.read({ ...request, url, concurrency, times });
    const probed = await probe.take();
    return { millis: median(millis), longestSmallCall: Math.max(...probed.map(({ millis }) => millis)) };
  };
  const ofFanal: Round[] = [];
  const ofBare: Round[] = [];
  const grown: number[] = [];
  for (let count = 0; count < rounds; count++) {
    const { result, grownBytes } = await withMemory(node.pid, () => round(url, node.url));
    ofFanal.push(result);
    grown.push(grownBytes);
    ofBare.push(await round(bare.url, bare.shortUrl));
  }
  const time = (ofServer: Round[]) => median(ofServer.map(({ millis }) => millis));
  const longest = (ofServer: Round[]) => Math.max(...ofServer.map(({ longestSmallCall }) => longestSmallCall));
  printRow(
    `${title}, ${server}`,
    megabytes(bytes),
    seconds(time(ofFanal)),
    seconds(time(ofBare)),
    `${(time(ofFanal) / time(ofBare)).toFixed(1)}×`,
    milliseconds(longest(ofFanal)),
    milliseconds(longest(ofBare)),
    megabytes(Math.max(...grown)),
  );
}
