import { ForkName } from "@lodestar/params";
import type { Method } from "../../api/definition.ts";
import type { ExampleChain } from "../../api/example.ts";

/** Stands for an object that only a chain can make. */
const OBJECT: Record<string, unknown> = {};
/** Stands for bytes that depend on the chain. */
const BYTES = "0x…";
/** A parameter whose JSON is longer is better read from a file. */
const LONGEST_WRITTEN = 200;

/** A chain that has no blocks: its examples say which parameters there are, not what they are on a real chain. */
const CHAIN_OF_WORDS: ExampleChain = {
  fork: ForkName.fulu,
  slot: 41,
  epoch: 5,
  headRoot: BYTES,
  peerId: "16Uiu2H…",
  subscriptionId: BYTES,
  pubkey: () => BYTES,
  randaoReveal: async () => BYTES,
  signedBlock: async () => OBJECT,
  blindedBlock: async () => OBJECT,
  attestations: async () => [OBJECT],
  attestationDataRoot: async () => BYTES,
  signedAggregate: async () => OBJECT,
  syncCommitteeMessages: async () => [OBJECT],
  syncSubcommitteeIndex: async () => 0,
  signedContribution: async () => OBJECT,
  selectionProof: () => BYTES,
  registration: () => OBJECT,
  voluntaryExit: () => OBJECT,
  proposerSlashing: () => OBJECT,
  attesterSlashing: () => OBJECT,
  credentialsChange: () => OBJECT,
};

/** A parameter of an example: its JSON, or the name of the file where whoever calls has it. */
type ExampleParam = { json: string } | { file: string };

/** The lines to type for a call of a method: with `fanal call`, and with curl; over WebSocket where it needs one. */
export async function exampleLines(method: Method): Promise<string[]> {
  const { name, needsConnection } = method;
  const params = await exampleParams(method);
  const request = `{"jsonrpc":"2.0","id":1,"method":"${name}","params":[${params.map(inRequest).join(",")}]}`;
  if (needsConnection) return ["Over WebSocket, at ws://127.0.0.1:9190:", request];
  return [
    ["fanal call", name, ...params.map(onCommandLine)].join(" "),
    "curl -s http://127.0.0.1:9190 -H 'Content-Type: application/json' \\",
    `  -d '${request}'`,
  ];
}

async function exampleParams({ params, example }: Method): Promise<ExampleParam[]> {
  const values = typeof example.params === "function" ? await example.params(CHAIN_OF_WORDS) : (example.params ?? []);
  return values.map((value, place) => {
    const json = JSON.stringify(value);
    if (!holdsObject(value) && json.length <= LONGEST_WRITTEN) return { json };
    return { file: `${params[Math.min(place, params.length - 1)]!.name}.json` };
  });
}

function holdsObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value === OBJECT || Object.values(value).some(holdsObject);
}

/** The quotes end the text of -d, and have the shell put the file there. */
function inRequest(param: ExampleParam): string {
  return "json" in param ? param.json.replaceAll("'", "'\\''") : `'"$(cat ${param.file})"'`;
}

function onCommandLine(param: ExampleParam): string {
  if ("file" in param) return `@${param.file}`;
  const value: unknown = JSON.parse(param.json);
  // Whole numbers are the same with and without quotes; what else would be read as JSON without them keeps them.
  const text = typeof value === "string" && (/^\d+$/.test(value) || !isJson(value)) ? value : param.json;
  return /^[\w.,:=/+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
