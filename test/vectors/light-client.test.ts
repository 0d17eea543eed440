import { Tree } from "@chainsafe/persistent-merkle-tree";
import type { CompositeTypeAny } from "@chainsafe/ssz";
import { ForkName } from "@lodestar/params";
import { type BeaconStateAllForks, type CachedBeaconStateAllForks, processSlots } from "@lodestar/state-transition";
import { type gloas, type LightClientHeader, ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { resolvePath } from "../../src/api/proofs/ssz-path.ts";
import { genesisBlock } from "../../src/chain/anchor/anchor.ts";
import {
  blockToLightClientHeader,
  createBootstrap,
  createFinalityUpdate,
  withNextSyncCommittee,
} from "../../src/chain/light-client/light-client-data.ts";
import { processBlock } from "../../src/chain/states/advance.ts";
import { cachedVectorState } from "../support/vectors/vector-config.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

const { BeaconBlock, BeaconState, SignedBeaconBlock } = ssz.gloas;
const ZERO_ROOT = `0x${"00".repeat(32)}`;
const CASES = vectorCases("gloas", "light_client");

/** Types of documents by the start of their file names. */
const DOCUMENTS = {
  bootstrap: ssz.gloas.LightClientBootstrap,
  update: ssz.gloas.LightClientUpdate,
  finality_update: ssz.gloas.LightClientFinalityUpdate,
  optimistic_update: ssz.gloas.LightClientOptimisticUpdate,
} as const;
type Kind = keyof typeof DOCUMENTS;

it("creates the documents of a chain", () => {
  const vector = CASES.find(({ path }) => path.handler === "data_collection")!;
  const view = BeaconState.deserializeToViewDU(vector.bytes("initial_state")) as unknown as BeaconStateAllForks;
  const genesis = cachedVectorState(ForkName.gloas, view);
  const { config } = genesis;
  const states = new Map<string, CachedBeaconStateAllForks>();
  const headers = new Map<string, LightClientHeader>();
  const created = new Map<Kind, Set<string>>();
  const add = (kind: Kind, document: unknown) => {
    const root = toRootHex(DOCUMENTS[kind].hashTreeRoot(document as never));
    created.set(kind, (created.get(kind) ?? new Set()).add(root));
  };
  const addBlock = ({ message }: gloas.SignedBeaconBlock, post: CachedBeaconStateAllForks) => {
    const root = toRootHex(BeaconBlock.hashTreeRoot(message));
    states.set(root, post);
    headers.set(root, blockToLightClientHeader(config, message));
    add("bootstrap", createBootstrap(headers.get(root)!, post));
  };
  addBlock(genesisBlock(config, genesis) as gloas.SignedBeaconBlock, genesis);

  const blocks = vector.names("block_").map((name) => vector.ssz(name, SignedBeaconBlock));
  for (const block of blocks.sort((a, b) => a.message.slot - b.message.slot)) {
    const { slot, parentRoot, body } = block.message;
    const attestedState = states.get(toRootHex(parentRoot))!;
    addBlock(block, processBlock(processSlots(attestedState.clone(), slot), block));
    const finalized = toRootHex(attestedState.finalizedCheckpoint.root);
    const update = createFinalityUpdate(config, {
      syncAggregate: body.syncAggregate,
      signatureSlot: slot,
      attestedHeader: headers.get(toRootHex(parentRoot))!,
      attestedState,
      finalizedHeader: finalized === ZERO_ROOT ? null : headers.get(finalized),
    });
    add("finality_update", update);
    add("update", withNextSyncCommittee(update, attestedState));
    add("optimistic_update", update);
  }

  for (const [kind, type] of Object.entries(DOCUMENTS)) {
    const names = vector.names(`${kind}_`);
    expect(names.length, kind).toBeGreaterThan(3);
    for (const name of names) {
      const root = toRootHex(type.hashTreeRoot(vector.ssz<never>(name, type as never)));
      expect(created.get(kind as Kind), name).toContain(root);
    }
  }
});

const PATHS: Readonly<Record<string, string[]>> = {
  execution_block_hash_merkle_proof: ["signed_execution_payload_bid", "message", "parent_block_hash"],
  current_sync_committee_merkle_proof: ["current_sync_committee"],
  next_sync_committee_merkle_proof: ["next_sync_committee"],
  finality_root_merkle_proof: ["finalized_checkpoint", "root"],
};

it.each(
  CASES.filter(({ path }) => path.handler === "single_merkle_proof").map(
    (vector) => [vector.path.name, vector] as const,
  ),
)("proves %s by its path", (name, vector) => {
  const type = ssz.gloas[vector.path.suite as "BeaconState"] as unknown as CompositeTypeAny;
  const { node } = type.deserializeToViewDU(vector.bytes("object")) as { node: Tree["rootNode"] };
  const object = { type, node, noun: "object", fork: "gloas", typesByFork: () => new Map() };
  const { gindex, node: leaf } = resolvePath(object, PATHS[name]!);
  const proof = vector.yaml<{ leaf: string; leaf_index: number; branch: string[] }>("proof");
  expect(gindex).toBe(BigInt(proof.leaf_index));
  expect(toRootHex(leaf.root)).toBe(proof.leaf);
  expect(new Tree(node).getSingleProof(gindex).map(toRootHex)).toEqual(proof.branch);
});
