import { described, either, type JsonSchema, list, nothing, object, reference } from "../schema-builders.ts";

/** Maximum SSZ size of a value that is included in a proof response. */
export const MAX_VALUE_BYTES = 1024;

const uint64 = reference("Uint64");
const root = reference("Root");

const VALUE = {
  value: described({}, `The proven value as JSON; null if it is larger than ${MAX_VALUE_BYTES} bytes or not a field.`),
  offset: described(
    either(uint64, nothing),
    "First byte of the value in the leaf; null if the leaf is the hash tree root of the value.",
  ),
  bit: described(either(uint64, nothing), "Position of a bit in that byte, from the least significant."),
};

const SINGLE = {
  gindex: uint64,
  depth: uint64,
  index: described(uint64, "Generalized index without its highest bit."),
  leaf: root,
  branch: described(list(root), "Sibling nodes from the leaf up."),
  ...VALUE,
};

const MULTI = {
  leaves: described(list(object({ gindex: uint64, leaf: root })), "Unique leaves, by descending generalized index."),
  witnesses: described(
    list(object({ gindex: uint64, node: root })),
    "Other nodes needed to compute the root, by descending generalized index.",
  ),
  values: described(list(object({ gindex: uint64, ...VALUE })), "In the order of the request."),
};

const membersWith = (blockRoot: JsonSchema) => ({
  root: described(root, "Root that the proof is verified against."),
  slot: uint64,
  state_root: root,
  block_root: blockRoot,
  timestamp: described(
    either(uint64, nothing),
    "Timestamp under which the EIP-4788 contract stores `block_root`: the timestamp of the payload in the block's " +
      "canonical child. Proofs against the state root include it as well. Null before deneb, while there is no such " +
      "child, and since gloas also if its payload is withheld.",
  ),
});

const OF_STATE = membersWith(described(either(root, nothing), "Null for the state of a slot without a block."));
const OF_BLOCK = membersWith(root);

export const PROOF_OBJECTS = {
  StateProof: described(object({ ...OF_STATE, ...SINGLE }), "Proof of one path or generalized index of a state."),
  StateMultiproof: described(
    object({ ...OF_STATE, ...MULTI }),
    "Proof of several paths or generalized indices of a state.",
  ),
  BlockProof: described(object({ ...OF_BLOCK, ...SINGLE }), "Proof of one path or generalized index of a block."),
  BlockMultiproof: described(
    object({ ...OF_BLOCK, ...MULTI }),
    "Proof of several paths or generalized indices of a block.",
  ),
} satisfies Record<string, JsonSchema>;
