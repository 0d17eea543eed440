import { ForkName } from "@lodestar/params";
import type { MethodDefinition } from "../../api/definition.ts";
import type { ExampleChain } from "../../api/example.ts";
import { cliLine, curlLines, type ExampleParam, exampleParam, requestText } from "./call-lines.ts";

/** Placeholder for an object that depends on the chain. */
const OBJECT: Record<string, unknown> = {};
/** Placeholder for bytes that depend on the chain. */
const BYTES = "0x…";

/** Example chain without blocks, whose values are placeholders. */
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
  signedBlockRoot: async () => BYTES,
  signedEnvelope: async () => OBJECT,
  payloadAttestations: async () => [OBJECT],
  proposerPreferences: async () => OBJECT,
  signedBid: async () => OBJECT,
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

/** Returns example calls with `fanal call` and curl, or the WebSocket message if the method requires a connection. */
export async function exampleLines(method: MethodDefinition): Promise<string[]> {
  const { name, needsConnection } = method;
  const params = await placeholderParams(method);
  if (needsConnection) return ["Over WebSocket, at ws://127.0.0.1:9190:", requestText(name, params)];
  return [cliLine(name, params), ...curlLines(name, params)];
}

async function placeholderParams(method: MethodDefinition): Promise<ExampleParam[]> {
  const { params = [] } = method.example;
  const values = typeof params === "function" ? await params(PLACEHOLDER_CHAIN) : params;
  return values.map((value, position) => exampleParam(method, position, value, holdsObject(value)));
}

function holdsObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value === OBJECT || Object.values(value).some(holdsObject);
}
