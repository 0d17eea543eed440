interface ProposerDuty {
  readonly slot: string;
}

interface AttesterDuty {
  readonly slot: string;
  readonly committee_index: string;
  readonly validator_committee_index: string;
  readonly committee_length: string;
}

interface DutyContext {
  /** Recent blocks. */
  readonly blocks: readonly { readonly slot: number; readonly lane: number }[];
  readonly currentSlot: number;
  readonly slotsPerEpoch: number;
}

export interface Duty {
  readonly epoch: number;
  readonly slot: number;
  readonly duty: string;
  readonly outcome: "ahead" | "now" | "done" | "orphaned" | "missed";
}

/** Lists duties by slot. Omits past attestations, since recent blocks do not show whether these were included. */
export function listDuties(
  { proposer, attester }: { proposer: readonly ProposerDuty[]; attester: readonly AttesterDuty[] },
  { blocks, currentSlot, slotsPerEpoch }: DutyContext,
): Duty[] {
  const position = (slot: number) => ({ epoch: Math.floor(slot / slotsPerEpoch), slot });
  const due = (slot: number): Duty["outcome"] => (slot === currentSlot ? "now" : "ahead");
  const oldest = Math.min(...blocks.map(({ slot }) => slot));
  const proposalOutcome = (slot: number): Duty["outcome"] => {
    const found = blocks.filter((block) => block.slot === slot);
    if (found.length > 0) return found.some(({ lane }) => lane === 0) ? "done" : "orphaned";
    return slot < currentSlot ? "missed" : due(slot);
  };
  const proposals = proposer
    .map(({ slot }) => Number(slot))
    .filter((slot) => slot >= Math.min(oldest, currentSlot))
    .map((slot) => ({ ...position(slot), duty: "propose a block", outcome: proposalOutcome(slot) }));
  const attestations = attester
    .filter(({ slot }) => Number(slot) >= currentSlot)
    .map(({ slot, committee_index: committee, validator_committee_index: index, committee_length: length }) => ({
      ...position(Number(slot)),
      duty: `attest in committee ${committee}, position ${Number(index) + 1} of ${length}`,
      outcome: due(Number(slot)),
    }));
  return [...proposals, ...attestations].sort((a, b) => a.slot - b.slot);
}
