import { ForkName } from "@lodestar/params";
import type { MethodDefinition } from "../../api/definition.ts";
import type { ExampleChain } from "../../api/example.ts";

/** Placeholder for an object that depends on the chain. */
const OBJECT: Record<string, unknown> = {};
/** Placeholder for bytes that depend on the chain. */
const BYTES = "0x…";
/** Longer parameters are shown as a file. */
const MAX_INLINE_LENGTH = 200;

/** Example chain without blocks. Its values are placeholders. */
const PLACEHOLDER_CHAIN: ExampleChain = {
  fork: ForkName.fulu,
  slot: 41,
  epoch: 5,
  headRoot: BYTES,
  executionHash: BYTES,
  transactionHash: BYTES,
  rawTransaction: async () => BYTES,
  rawTransactionForNextSlot: async () => BYTES,
  filterId: async () => "0x1",
  peerId: "16Uiu2H…",
  subscriptionId: BYTES,
  nextSlotSeconds: () => 1_700_000_000,
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
  takeSnapshot: async () => "0x1",
  dump: async () => BYTES,
};

/** Example parameter: JSON, or the name of a file. */
type ExampleParam = { json: string } | { file: string };

/** Returns example calls with `fanal call` and curl, or the WebSocket message if the method needs a connection. */
export async function exampleLines(method: MethodDefinition): Promise<string[]> {
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

async function exampleParams({ params, example }: MethodDefinition): Promise<ExampleParam[]> {
  const values =
    typeof example.params === "function" ? await example.params(PLACEHOLDER_CHAIN) : (example.params ?? []);
  return values.map((value, place) => {
    const json = JSON.stringify(value);
    if (!holdsObject(value) && json.length <= MAX_INLINE_LENGTH) return { json };
    return { file: `${params[Math.min(place, params.length - 1)]!.name}.json` };
  });
}

function holdsObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value === OBJECT || Object.values(value).some(holdsObject);
}

/** Formats a parameter within a single-quoted shell string. A file is inserted by command substitution. */
function inRequest(param: ExampleParam): string {
  return "json" in param ? param.json.replaceAll("'", "'\\''") : `'"$(cat ${param.file})"'`;
}

function onCommandLine(param: ExampleParam): string {
  if ("file" in param) return `@${param.file}`;
  const value: unknown = JSON.parse(param.json);
  // Strings need quotes only if they would parse as JSON. Integers are accepted in both forms.
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
