import { ssz } from "@lodestar/types";
import { type ChainFacts, isSelected } from "./chain-facts.ts";
import type { ValidatorKey } from "./keys.ts";
import type { RpcClient } from "./rpc-client.ts";

export interface SyncDuty {
  validator_index: string;
  validator_sync_committee_indices: string[];
}

/** Signs the head with every key in the sync committee, then publishes a contribution per subcommittee. */
export async function syncCommittee(
  rpc: RpcClient,
  facts: ChainFacts,
  keys: readonly ValidatorKey[],
  slot: number,
  duties: readonly SyncDuty[],
): Promise<void> {
  const { root } = await rpc.call<{ root: string }>("get_v1_beacon_blocks_blockId_root", ["head"]);
  const messages = duties.map(({ validator_index }) => ({
    slot: String(slot),
    beacon_block_root: root,
    validator_index,
    signature: facts.sign(keys[Number(validator_index)]!, "DOMAIN_SYNC_COMMITTEE", slot, ssz.Root, rootBytes(root)),
  }));
  if (messages.length === 0) return;
  await rpc.call("post_v1_beacon_pool_sync_committees", [messages]);
  const contributions = [];
  for (const [subcommittee, members] of membersBySubcommittee(facts, duties)) {
    const contribution = await contribute(rpc, facts, keys, { slot, root, subcommittee, members });
    if (contribution) contributions.push(contribution);
  }
  if (contributions.length > 0) await rpc.call("post_v1_validator_contribution_and_proofs", [contributions]);
}

const rootBytes = (root: string) => new Uint8Array(Buffer.from(root.slice(2), "hex"));

function membersBySubcommittee(facts: ChainFacts, duties: readonly SyncDuty[]): Map<number, string[]> {
  const size = facts.number("SYNC_COMMITTEE_SIZE") / facts.number("SYNC_COMMITTEE_SUBNET_COUNT");
  const seats = duties.flatMap(({ validator_index, validator_sync_committee_indices }) =>
    validator_sync_committee_indices.map((seat) => ({
      validator_index,
      subcommittee: Math.floor(Number(seat) / size),
    })),
  );
  const bySubcommittee = Map.groupBy(seats, ({ subcommittee }) => subcommittee);
  return new Map(
    Array.from(bySubcommittee, ([subcommittee, members]) => [
      subcommittee,
      [...new Set(members.map(({ validator_index }) => validator_index))],
    ]),
  );
}

async function contribute(
  rpc: RpcClient,
  facts: ChainFacts,
  keys: readonly ValidatorKey[],
  { slot, root, subcommittee, members }: { slot: number; root: string; subcommittee: number; members: string[] },
) {
  const size = facts.number("SYNC_COMMITTEE_SIZE") / facts.number("SYNC_COMMITTEE_SUBNET_COUNT");
  const modulo = size / facts.number("TARGET_AGGREGATORS_PER_SYNC_SUBCOMMITTEE");
  const selection = { slot, subcommitteeIndex: subcommittee };
  const { SyncAggregatorSelectionData, ContributionAndProof } = ssz.altair;
  for (const member of members) {
    const key = keys[Number(member)]!;
    const domain = "DOMAIN_SYNC_COMMITTEE_SELECTION_PROOF";
    const proof = facts.sign(key, domain, slot, SyncAggregatorSelectionData, selection);
    if (!isSelected(proof, modulo)) continue;
    const params = [String(slot), String(subcommittee), root];
    const contribution = await rpc.call("get_v1_validator_sync_committee_contribution", params);
    const message = { aggregator_index: member, contribution, selection_proof: proof };
    const signature = facts.signJson(key, "DOMAIN_CONTRIBUTION_AND_PROOF", slot, ContributionAndProof, message);
    return { message, signature };
  }
  return undefined;
}
