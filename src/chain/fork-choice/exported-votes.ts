import type { RootHex } from "@lodestar/types";
import { NO_NODE, type ProtoArray } from "./proto-array.ts";
import type { LatestMessages, Votes } from "./votes.ts";

/** Latest messages in a form independent of the tree: nodes are positions in `roots`. */
export interface ExportedVotes {
  roots: RootHex[];
  messages: LatestMessages;
}

export function exportVotes(tree: ProtoArray, votes: Votes): ExportedVotes {
  const roots: RootHex[] = [];
  const positions = new Int32Array(tree.size).fill(NO_NODE);
  const positionOf = (node: number): number => {
    if (node === NO_NODE) return NO_NODE;
    if (positions[node] === NO_NODE) positions[node] = roots.push(tree.nodeAt(node).block.root) - 1;
    return positions[node]!;
  };
  const messages = votes.latestMessages();
  return { roots, messages: { ...messages, nodes: messages.nodes.map(positionOf) } };
}

/** Imports votes. A vote for an unknown block has no node but still supersedes earlier votes. */
export function importVotes(tree: ProtoArray, votes: Votes, { roots, messages }: ExportedVotes): void {
  const indices = roots.map((root) => tree.indexOf(root));
  const nodes = messages.nodes.map((position) => indices[position] ?? NO_NODE);
  votes.restore({ ...messages, nodes });
}
