import { type Node, Tree } from "@chainsafe/persistent-merkle-tree";
import type { CompositeTypeAny } from "@chainsafe/ssz";
import { ForkName, ForkSeq, isForkPostDeneb } from "@lodestar/params";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type deneb, type phase0, type RootHex, ssz, sszTypesFor } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { latestBlockHeader } from "../../../chain/anchor/anchor.ts";
import type { ChainBlock } from "../../../chain/blocks/block-store.ts";
import { invalidParams } from "../../../errors/failure.ts";
import type { ChainView } from "../../chain-view.ts";
import type { Codecs } from "../../codecs.ts";
import { defineEncoded, get, optional, post, required } from "../../definition.ts";
import { resolveBlock, resolveState, versionedMetaOf } from "../../lookup.ts";
import { BLOCK_ID, STATE_ID } from "../../params/common.ts";
import { MAX_TARGETS, proofPaths } from "../../params/proof-paths.ts";
import { word } from "../../params/scalars.ts";
import { type ProvenTree, proofAnswer, proofSchema } from "../../proofs/proof-response.ts";
import type { SszObject } from "../../proofs/ssz-place.ts";
import { described, either, type JsonSchema, nothing, shape } from "../../schemas.ts";

const PATH = required(
  proofPaths,
  "What to prove: the names of fields and the indices of elements that lead there, or a generalized index; for a multiproof " +
    `an array of up to ${MAX_TARGETS} of these, each path an array of its own. The length of a list is at "length".`,
);

const TIMESTAMP = described(
  either(shape("Uint64"), nothing),
  "By which the contract of EIP-4788 finds the root of the block: that of the payload in the block's canonical child. Null " +
    "while there is no such child, and before deneb.",
);

/** What both methods tell of the block, beside the proof. */
const resultWith = (blockRoot: JsonSchema) => ({
  name: "proof",
  schema: proofSchema({
    slot: shape("Uint64"),
    state_root: shape("Root"),
    block_root: blockRoot,
    timestamp: TIMESTAMP,
  }),
});

const getStateProof = defineEncoded({
  name: "getStateProof",
  summary: "A Merkle proof of parts of a state, up to its own root or to the root of its block.",
  params: {
    stateId: STATE_ID,
    path: PATH,
    upTo: optional(word(["state", "block"]), "Whose root the proof leads to; by default the state's."),
  },
  result: resultWith(described(either(shape("Root"), nothing), "Null for the state of a slot without a block.")),
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
    // All at once is many times as fast as node by node, and what was hashed before stays so.
    const stateRoot = toRootHex(state.hashTreeRoot());
    const header = latestBlockHeader(state);
    // No block has the state of an empty slot.
    const isOfBlock = header.slot === state.slot;
    if (upTo === "block" && !isOfBlock) throw noBlockOf(state, header);
    const tree = upTo === "block" ? treeUnderHeader(header, state.node) : { root: state.node, gindex: 1n };
    const proof = proofAnswer(path, stateObject(chain, state), tree);

    const blockRoot = isOfBlock ? toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(header)) : null;
    const { timestamp, isFinal } = blockRoot === null ? NO_TIMESTAMP : await timestampAfter(chain, blockRoot);
    return {
      data: { slot: String(state.slot), state_root: stateRoot, block_root: blockRoot, timestamp, ...proof },
      meta: versionedMetaOf(chain, state.slot, { ...resolved, finalized: resolved.finalized && isFinal }),
    };
  },
});

const getBlockProof = defineEncoded({
  name: "getBlockProof",
  summary: "A Merkle proof of parts of a block, without its signature, up to its root.",
  params: { blockId: BLOCK_ID, path: PATH },
  result: resultWith(shape("Root")),
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
    const proven = blockObject(chain, block);
    const proof = proofAnswer(path, proven, { root: proven.node, gindex: 1n });
    const { timestamp, isFinal } = await timestampAfter(chain, block.root);
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

/** In the forks that the node knows. */
function typesByFork(name: "BeaconState" | "BeaconBlock"): Map<string, CompositeTypeAny> {
  const forks = Object.values(ForkName).filter((fork) => ForkSeq[fork] < ForkSeq.gloas);
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

/** The tree of a block with that of its state where it has the state's root; of the body, the header has the root alone. */
function treeUnderHeader(header: phase0.BeaconBlockHeader, state: Node): ProvenTree {
  const { gindex } = ssz.phase0.BeaconBlockHeader.getPathInfo(["stateRoot"]);
  const tree = new Tree(ssz.phase0.BeaconBlockHeader.value_toTree(header));
  tree.setNode(gindex, state);
  return { root: tree.rootNode, gindex };
}

function noBlockOf(state: CachedBeaconStateAllForks, header: phase0.BeaconBlockHeader) {
  return invalidParams(
    `Slot ${state.slot} has no block, so that no block has its state: ask for the state of slot ${header.slot}, where the ` +
      'last block before it is, or for a proof up to "state".',
  );
}

interface KeptAt {
  timestamp: string | null;
  /** Whether no other block can take the place of the child that it is of. */
  isFinal: boolean;
}

const NO_TIMESTAMP: KeptAt = { timestamp: null, isFinal: true };

/** When the root of a block is kept on the execution side: by the first payload after it (EIP-4788), from deneb on. */
async function timestampAfter({ blocks, config }: ChainView, root: RootHex): Promise<KeptAt> {
  const children = await blocks.childrenOf(root);
  const child = children.find(({ canonical }) => canonical);
  if (child === undefined) return { timestamp: null, isFinal: false };
  const { slot, finalized: isFinal, signed } = child;
  if (!isForkPostDeneb(config.getForkName(slot))) return { timestamp: null, isFinal };
  const { executionPayload } = signed.message.body as deneb.BeaconBlockBody;
  return { timestamp: String(executionPayload.timestamp), isFinal };
}
