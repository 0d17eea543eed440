import type { Checkpoint } from "./types.ts";

/** Checkpoints in the store of phase0/fork-choice.md. They only move to later epochs. */
export interface StoreCheckpoints extends Realized, Unrealized {}

interface Realized {
  readonly justified: Checkpoint;
  readonly finalized: Checkpoint;
}

interface Unrealized {
  readonly unrealizedJustified: Checkpoint;
  readonly unrealizedFinalized: Checkpoint;
}

/** Initial checkpoints, as in get_forkchoice_store. */
export function initialCheckpoints(checkpoint: Checkpoint): StoreCheckpoints {
  return {
    justified: checkpoint,
    finalized: checkpoint,
    unrealizedJustified: checkpoint,
    unrealizedFinalized: checkpoint,
  };
}

/** update_checkpoints */
export function updateCheckpoints(store: StoreCheckpoints, { justified, finalized }: Realized): StoreCheckpoints {
  return { ...store, justified: later(store.justified, justified), finalized: later(store.finalized, finalized) };
}

/** update_unrealized_checkpoints */
export function updateUnrealizedCheckpoints(
  store: StoreCheckpoints,
  { unrealizedJustified, unrealizedFinalized }: Unrealized,
): StoreCheckpoints {
  return {
    ...store,
    unrealizedJustified: later(store.unrealizedJustified, unrealizedJustified),
    unrealizedFinalized: later(store.unrealizedFinalized, unrealizedFinalized),
  };
}

/** Returns the unrealized checkpoints as arguments for `updateCheckpoints`. */
export function unrealizedOf({ unrealizedJustified, unrealizedFinalized }: Unrealized): Realized {
  return { justified: unrealizedJustified, finalized: unrealizedFinalized };
}

const later = (current: Checkpoint, candidate: Checkpoint): Checkpoint =>
  candidate.epoch > current.epoch ? candidate : current;
