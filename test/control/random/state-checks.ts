import { verifyMerkleProof } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { getBytes, keccak256 } from "ethers";
import { expect } from "vitest";
import type { CheckedBlock } from "./canonical-chain.ts";
import type { Hex } from "./json.ts";
import type { Scenario } from "./scenario.ts";

interface StateJson {
  slot: string;
  balances: string[];
  pending_deposits?: { amount: string }[];
  inactivity_scores: string[];
}

/** Computes the root of the state after a block again. Returns the state. */
export async function expectStateRoot({ chain }: Pick<Scenario, "chain">, block: CheckedBlock): Promise<StateJson> {
  const { state_root: root } = block.beacon;
  const state = await chain.call<StateJson>("getBeaconState", [root]);
  const { BeaconState } = ssz[block.fork as "electra"];
  expect(toHex(BeaconState.hashTreeRoot(BeaconState.fromJson(state))), `state of slot ${block.slot}`).toBe(root);
  return state;
}

/** Stake in balances and deposits that wait, in Gwei. */
export function stakeIn({ balances, pending_deposits = [] }: StateJson): bigint {
  const deposits = pending_deposits.map(({ amount }) => amount);
  return [...balances, ...deposits].reduce((sum, amount) => sum + BigInt(amount), 0n);
}

/** Balances and nonces of accounts are those of the state root of the execution layer. */
export async function expectProven(
  { chain }: Pick<Scenario, "chain">,
  { eth }: CheckedBlock,
  addresses: readonly Hex[],
) {
  for (const address of addresses) {
    const { accountProof, balance, nonce, storageHash, codeHash } = await chain.call<{
      accountProof: Hex[];
      balance: Hex;
      nonce: Hex;
      storageHash: Hex;
      codeHash: Hex;
    }>("eth_getProof", [address, [], { blockHash: eth.hash }]);
    const proof = accountProof.map((node) => getBytes(node));
    const key = getBytes(keccak256(address));
    expect(keccak256(proof[0]!), `proof of ${address}`).toBe(eth.stateRoot);
    const value = await verifyMerkleProof(key, proof);
    if (value === null) {
      expect([BigInt(balance), BigInt(nonce)]).toEqual([0n, 0n]);
      continue;
    }
    const decoded = (RLP.decode(value) as Uint8Array[]).map((field) => toHex(field));
    expect([BigInt(decoded[0] === "0x" ? 0 : decoded[0]!), decoded[1] === "0x" ? 0n : BigInt(decoded[1]!)]).toEqual([
      BigInt(nonce),
      BigInt(balance),
    ]);
    expect(decoded.slice(2)).toEqual([storageHash, codeHash]);
  }
}
