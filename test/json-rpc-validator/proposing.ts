import { ssz } from "@lodestar/types";
import type { ChainFacts } from "./chain-facts.ts";
import type { ValidatorKey } from "./keys.ts";
import type { RpcClient } from "./rpc-client.ts";

interface Contents {
  block: unknown;
}

/** Requests, signs and publishes a block. Returns the status: 200 if it was imported. */
export async function propose(
  rpc: RpcClient,
  facts: ChainFacts,
  slot: number,
  proposer: ValidatorKey,
): Promise<number> {
  const reveal = facts.sign(proposer, "DOMAIN_RANDAO", slot, ssz.Epoch, facts.epochOf(slot));
  const produced = await rpc.call<unknown>("get_v1_validator_block", [String(slot), reveal, "JSON-RPC alone"]);
  const isWrapped = facts.has("deneb", slot);
  const message = isWrapped ? (produced as Contents).block : produced;
  const type = facts.typesAt(slot).BeaconBlock;
  const signed = { message, signature: facts.signJson(proposer, "DOMAIN_BEACON_PROPOSER", slot, type, message) };
  if (!isWrapped) return rpc.call("post_v1_beacon_blocks", [signed]);
  const { block: _unsigned, ...blobs } = produced as Contents;
  return rpc.call("post_v1_beacon_blocks", [{ signed_block: signed, ...blobs }]);
}
