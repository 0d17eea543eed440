/** A node of fork choice: a block regardless of its payload, without it, or with it. */
interface ForkChoiceNode {
  readonly block_root: string;
  readonly parent_root: string;
  readonly payload_status: string;
  readonly parent_payload_status: string | null;
  readonly validity: string;
}

interface Head {
  readonly head_root: string;
  readonly head_payload_status: string;
}

/** True for a node that is a block without or with its payload. */
const isVariant = ({ block_root, parent_root }: ForkChoiceNode): boolean => block_root === parent_root;

/** Returns the nodes that stand for the blocks. */
export function blocksAmong<Node extends ForkChoiceNode>(nodes: readonly Node[]): Node[] {
  return nodes.filter((node) => !isVariant(node));
}

/**
 * Describes the payloads of blocks by root. Since gloas, the next block decides whether a block is full or empty; a block
 * beside the chain of the head only has its payload "revealed" or not.
 */
export function payloadTexts(
  nodes: readonly ForkChoiceNode[],
  { head_root, head_payload_status }: Head,
  chain: ReadonlySet<string>,
): Map<string, string> {
  const decided = new Map([[head_root, head_payload_status]]);
  for (const { block_root, parent_root, parent_payload_status } of blocksAmong(nodes)) {
    if (chain.has(block_root) && parent_payload_status !== null) decided.set(parent_root, parent_payload_status);
  }
  const fullNodes = nodes.filter((node) => isVariant(node) && node.payload_status === "full");
  const validities = new Map(fullNodes.map(({ block_root, validity }) => [block_root, validity]));
  const textOf = ({ block_root, payload_status, validity: ofBlock }: ForkChoiceNode): string => {
    if (payload_status !== "pending") return ofBlock;
    const validity = validities.get(block_root);
    const text = decided.get(block_root) ?? (validity === undefined ? "not revealed" : "revealed");
    return validity === undefined || validity === "valid" ? text : `${text}, ${validity}`;
  };
  return new Map(blocksAmong(nodes).map((node) => [node.block_root, textOf(node)]));
}
