import { type Node, Tree } from "@chainsafe/persistent-merkle-tree";
import type { CompositeTypeAny } from "@chainsafe/ssz";
import { ForkName, ForkSeq, isForkPostDeneb, isForkPostGloas } from "@lodestar/params";
import { type CachedBeaconStateAllForks, computeTimeAtSlot } from "@lodestar/state-transition";
import { type deneb, type phase0, type RootHex, ssz, sszTypesFor } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../../../chain/anchor/anchor.ts";
import type { ChainBlock } from "../../../chain/blocks/block-store.ts";
import { invalidParams } from "../../../errors/failure.ts";
import type { ChainView } from "../../chain-view.ts";
import type { Codecs } from "../../codecs.ts";
import { defineEncoded, get, optional, post, type Result, required } from "../../definition.ts";
import { resolveBlock, resolveState, versionedMetaOf } from "../../lookup.ts";
import { BLOCK_ID, STATE_ID } from "../../params/common.ts";
import { MAX_PROOF_TARGETS, proofPaths, SINGLE_TARGET_FORM, TARGET_LIST_FORM } from "../../params/proof-paths.ts";
import { stringEnum } from "../../params/scalars.ts";
import { canonicalChild, hasCanonicalPayload } from "../../payload-of-block.ts";
import { createProofResponse, type ProofTree } from "../../proofs/proof-response.ts";
import type { SszObject } from "../../proofs/ssz-path.ts";
import { either, type JsonSchema, shape } from "../../schemas.ts";

const PATH = required(
  proofPaths,
  "Path of field names and element indices, or a generalized index; for a multiproof an array of up to " +
    `${MAX_PROOF_TARGETS} of these. The length of a list is at "length".`,
);

function resultOf(single: JsonSchema, multi: JsonSchema): Result {
  return {
    name: "proof",
    schema: either(single, multi),
    // The list comes first because a list of numbers is a list of generalized indices.
    variants: [
      { param: "path", form: TARGET_LIST_FORM, schema: multi },
      { param: "path", form: SINGLE_TARGET_FORM, schema: single },
    ],
  };
}

const getStateProof = defineEncoded({
  name: "getStateProof",
  summary: "Merkle proof of parts of a state, against the state root or the root of its block.",
  params: {
    stateId: STATE_ID,
    path: PATH,
    upTo: optional(stringEnum(["state", "block"]), "Root that the proof is verified against. Default: state."),
  },
  result: resultOf(shape("StateProof"), shape("StateMultiproof")),
  failures: ["not-found"],
  rest: [get("/fanal/v1/proofs/states/{state_id}"), post("/fanal/v1/proofs/states/{state_id}")],
  cost: "state",
  access: "read",
  example: {
    params: (chain) => [String(chain.slot - 2), ["validators", 3, "withdrawal_credentials"], "block"],
    isShownLater: true,
  },
  codec: withVersion,
  async handler({ chain }, { stateId, path, upTo = "state" }, call) {
    const resolved = await resolveState(chain, stateId, call);
    const { state } = resolved;
    // Hashing the whole tree at once is many times faster than hashing node by node, and the hashes are cached.
    const stateRoot = toRootHex(state.hashTreeRoot());
    const header = latestBlockHeader(state);
    // The state at an empty slot is not the post-state of a block.
    const isOfBlock = header.slot === state.slot;
    if (upTo === "block" && !isOfBlock) throw noBlockInSlot(state, header);
    const tree = upTo === "block" ? headerTree(header, state.node) : { root: state.node, gindex: 1n };
    const proof = createProofResponse(path, stateObject(chain, state), tree);

    const blockRoot = isOfBlock ? toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header)) : null;
    const { timestamp, isFinal } = blockRoot === null ? NO_TIMESTAMP : await blockRootTimestamp(chain, blockRoot);
    return {
      data: { slot: String(state.slot), state_root: stateRoot, block_root: blockRoot, timestamp, ...proof },
      meta: versionedMetaOf(chain, state.slot, { ...resolved, finalized: resolved.finalized && isFinal }),
    };
  },
});

const getBlockProof = defineEncoded({
  name: "getBlockProof",
  summary: "Merkle proof of parts of a block without its signature, against the block root.",
  params: { blockId: BLOCK_ID, path: PATH },
  result: resultOf(shape("BlockProof"), shape("BlockMultiproof")),
  failures: ["not-found"],
  rest: [get("/fanal/v1/proofs/blocks/{block_id}"), post("/fanal/v1/proofs/blocks/{block_id}")],
  cost: "state",
  access: "read",
  example: {
    params: (chain) => [String(chain.slot - 2), ["body", "eth1_data", "deposit_count"]],
    isShownLater: true,
  },
  codec: withVersion,
  async handler({ chain }, { blockId, path }) {
    const block = await resolveBlock(chain, blockId);
    const { slot, stateRoot } = block.signed.message;
    const object = blockObject(chain, block);
    const proof = createProofResponse(path, object, { root: object.node, gindex: 1n });
    const { timestamp, isFinal } = await blockRootTimestamp(chain, block.root);
    return {
      data: { slot: String(slot), state_root: toRootHex(stateRoot), block_root: block.root, timestamp, ...proof },
      meta: versionedMetaOf(chain, slot, { ...block, finalized: block.finalized && isFinal }),
    };
  },
});

export const proofMethods = [getStateProof, getBlockProof] as const;

function withVersion({ debug }: Codecs) {
  return { data: { toJson: (proof: unknown) => proof }, meta: debug.getStateV2.resp.meta };
}

/** Returns the types for the supported forks. */
function typesByFork(name: "BeaconState" | "BeaconBlock"): Map<string, CompositeTypeAny> {
  const forks = Object.values(ForkName).filter((fork) => ForkSeq[fork] <= ForkSeq.gloas);
  return new Map(forks.map((fork) => [fork, sszTypesFor(fork)[name] as CompositeTypeAny]));
}

function stateObject({ config }: ChainView, { type, node, slot }: CachedBeaconStateAllForks): SszObject {
  return {
    type: type as CompositeTypeAny,
    node,
    noun: "state",
    fork: config.getForkName(slot),
    typesByFork: () => typesByFork("BeaconState"),
  };
}

function blockObject({ config }: ChainView, { slot, signed }: ChainBlock): SszObject {
  const type = config.getForkTypes(slot).BeaconBlock as CompositeTypeAny;
  return {
    type,
    node: type.value_toTree(signed.message),
    noun: "block",
    fork: config.getForkName(slot),
    typesByFork: () => typesByFork("BeaconBlock"),
  };
}

/** Returns the tree of a block header in which the tree of its state replaces the state root. */
function headerTree(header: phase0.BeaconBlockHeader, state: Node): ProofTree {
  const { gindex } = ssz.phase0.BeaconBlockHeader.getPathInfo(["stateRoot"]);
  const tree = new Tree(ssz.phase0.BeaconBlockHeader.value_toTree(header));
  tree.setNode(gindex, state);
  return { root: tree.rootNode, gindex };
}

function noBlockInSlot(state: CachedBeaconStateAllForks, header: phase0.BeaconBlockHeader) {
  return invalidParams(
    `Slot ${state.slot} has no block, so its state has no block root. Request the state of slot ${header.slot}, the last ` +
      'one with a block, or a proof up to "state".',
  );
}

interface BlockRootTimestamp {
  timestamp: string | null;
  /** True if the blocks that determine the timestamp are finalized. */
  isFinal: boolean;
}

const NO_TIMESTAMP: BlockRootTimestamp = { timestamp: null, isFinal: true };

/**
 * Returns the timestamp under which the EIP-4788 contract stores a block root, which is that of the payload of the
 * block's child. If that payload is withheld, the root is not stored.
 */
async function blockRootTimestamp(chain: ChainView, root: RootHex): Promise<BlockRootTimestamp> {
  const child = await canonicalChild(chain, root);
  if (child === undefined) return { timestamp: null, isFinal: false };
  const { slot, finalized: isFinal, signed } = child;
  const fork = chain.config.getForkName(slot);
  if (!isForkPostDeneb(fork)) return { timestamp: null, isFinal };
  if (!isForkPostGloas(fork)) {
    const { executionPayload } = signed.message.body as deneb.BeaconBlockBody;
    return { timestamp: String(executionPayload.timestamp), isFinal };
  }
  const next = await canonicalChild(chain, child.root);
  const isCanonical = hasCanonicalPayload(chain, child, next);
  const timestamp = isCanonical ? String(computeTimeAtSlot(chain.config, slot, chain.genesis.time)) : null;
  return { timestamp, isFinal: next?.finalized ?? false };
}
