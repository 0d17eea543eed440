import type { RootHex, Slot } from "@lodestar/types";

export type RejectionReason =
  | "future-slot"
  | "finalized-slot"
  | "unknown-parent"
  | "not-connected"
  | "invalid-parent"
  | "before-history"
  | "not-later-than-parent"
  | "not-descendant-of-finalized"
  | "wrong-proposer"
  | "invalid-signature"
  | "wrong-state-root"
  | "invalid-transition"
  | "invalid-payload"
  | "wrong-terminal-block"
  | "unknown-terminal-block"
  | "engine-unavailable"
  | "data-unavailable"
  | "node-stopping";

/** Why a block was not imported. The chain is as it was before. */
export class BlockRejection extends Error {
  readonly reason: RejectionReason;
  /** The block at fault: with a run of blocks it need not be the first. */
  slot?: Slot;
  root?: RootHex;

  constructor(reason: RejectionReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "BlockRejection";
    this.reason = reason;
  }
}

/** The execution engine refuses the payload of a block. */
export class PayloadRefusal extends BlockRejection {
  readonly parentRoot: RootHex;
  readonly latestValidHash: RootHex | null;

  constructor(
    message: string,
    { parentRoot, latestValidHash }: { parentRoot: RootHex; latestValidHash: RootHex | null },
  ) {
    super("invalid-payload", message);
    this.parentRoot = parentRoot;
    this.latestValidHash = latestValidHash;
  }
}

/** Reasons for which a block waits for what the execution engine may tell later; nothing is wrong with it. */
export const isWaitingForEngine = ({ reason }: BlockRejection): boolean =>
  reason === "engine-unavailable" || reason === "unknown-terminal-block";

/** Reasons for which the chain holds a block and imports it later by itself. */
export const isHeld = (rejection: BlockRejection): boolean =>
  isWaitingForEngine(rejection) || rejection.reason === "data-unavailable";

/** Whether the block was not judged at all, because the node stops. */
export const isOfStop = ({ reason }: BlockRejection): boolean => reason === "node-stopping";

/** Whatever comes, the block of that root is never imported. A bad signature says nothing of the kind: the root does not cover it. */
const CONDEMNING: ReadonlySet<RejectionReason> = new Set([
  "finalized-slot",
  "invalid-parent",
  "not-later-than-parent",
  "not-descendant-of-finalized",
  "wrong-proposer",
  "wrong-state-root",
  "invalid-transition",
  "invalid-payload",
  "wrong-terminal-block",
]);

export const condemnsBlock = ({ reason }: BlockRejection): boolean => CONDEMNING.has(reason);

/** Notes the block at fault in an error, if it is a rejection that does not name one yet. */
export function blaming<E>(error: E, block: { slot: Slot; root: RootHex }): E {
  if (error instanceof BlockRejection) {
    error.slot ??= block.slot;
    error.root ??= block.root;
  }
  return error;
}
