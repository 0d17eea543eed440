interface StateIdentity {
  readonly id: string;
  readonly root: string;
  readonly epoch: number;
  readonly slotsPerEpoch: number;
}

interface BlockHeader {
  readonly root: string;
  readonly header: { readonly message: { readonly slot: string; readonly state_root: string } };
}

interface StatePosition {
  readonly epoch: number;
  /** Undefined if unknown. */
  readonly slot: number | undefined;
  /** Block with this post-state. Undefined for the state of a slot without a block. */
  readonly blockRoot: string | undefined;
}

/** Finds a state's slot and block among the headers of its epoch. No header refers to the state of an empty slot. */
export function locateState(state: StateIdentity, headers: readonly BlockHeader[]): StatePosition {
  const { id, root, epoch, slotsPerEpoch } = state;
  const found = headers.find(({ header }) => header.message.state_root === root);
  if (found) return { epoch, slot: Number(found.header.message.slot), blockRoot: found.root };
  // A checkpoint state is the state at the first slot of its epoch.
  const isCheckpoint = id === "finalized" || id === "justified";
  const slot = /^\d+$/.test(id) ? Number(id) : isCheckpoint ? epoch * slotsPerEpoch : undefined;
  return { epoch, slot, blockRoot: undefined };
}
