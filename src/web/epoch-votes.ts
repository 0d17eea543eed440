import { useEffect } from "preact/hooks";
import { hasLargeRegistry, reorgs, useChain, votesByEpoch } from "./live.ts";
import { node } from "./node.ts";

/** Epochs whose participation is being loaded. */
const inFlight = new Set<number>();

/**
 * Returns the participation in an epoch, or undefined if it is unknown. Past epochs are read from the last state that
 * counts their votes, unless states are large.
 */
export function useParticipation(epoch: number): number | undefined {
  const { head, slotsPerEpoch } = useChain();
  const votes = votesByEpoch.value.get(epoch);
  const isPast = epoch < Math.floor(Number(head.head_slot) / slotsPerEpoch) - 1;
  const isWanted = votes === undefined && isPast && !hasLargeRegistry.value;
  useEffect(() => {
    if (isWanted) void readVotes(epoch, (epoch + 2) * slotsPerEpoch - 1);
  }, [epoch, isWanted]);
  return votes;
}

/** Loads the participation in an epoch. Skips epochs for which the node has no states. */
async function readVotes(epoch: number, slot: number): Promise<void> {
  if (inFlight.has(epoch)) return;
  inFlight.add(epoch);
  for (let reorgsBefore: unknown; reorgsBefore !== reorgs.value; ) {
    reorgsBefore = reorgs.value;
    const { previous_epoch: votes } = await node
      .getParticipation({ state_id: String(slot) })
      .catch(() => ({ previous_epoch: null }));
    if (reorgsBefore === reorgs.value && votes !== null)
      votesByEpoch.value = new Map(votesByEpoch.value).set(epoch, votes);
  }
  inFlight.delete(epoch);
}
