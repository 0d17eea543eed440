import type { RootHex } from "@lodestar/types";
import { mapVoteTarget, NO_NODE, type ProtoArray, TARGETS_PER_NODE } from "../tree/proto-array.ts";
import type { LatestMessages, Votes } from "./votes.ts";

/** Latest messages in a form independent of the tree: vote targets refer to positions in `roots`. */
export interface ExportedVotes {
  roots: RootHex[];
  messages: LatestMessages;
}

export function exportVotes(tree: ProtoArray, votes: Votes): ExportedVotes {
  const roots: RootHex[] = [];
  const positions = new Int32Array(tree.size).fill(NO_NODE);
  const messages = votes.latestMessages();
  for (const target of messages.targets) {
    const node = target === NO_NODE ? NO_NODE : Math.floor(target / TARGETS_PER_NODE);
    if (node !== NO_NODE && positions[node] === NO_NODE) positions[node] = roots.push(tree.nodeAt(node).block.root) - 1;
  }
  return {
    roots,
    messages: { ...messages, targets: messages.targets.map((target) => mapVoteTarget(target, positions)) },
  };
}

/** Imports votes. A vote for an unknown block has no target but still supersedes earlier votes. */
export function importVotes(tree: ProtoArray, votes: Votes, { roots, messages }: ExportedVotes): void {
  const indices = roots.map((root) => tree.indexOf(root));
  votes.restore({ ...messages, targets: messages.targets.map((target) => mapVoteTarget(target, indices)) });
}
