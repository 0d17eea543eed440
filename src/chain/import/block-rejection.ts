import type { RootHex, Slot } from "@lodestar/types";

export type RejectionReason =
  | "future-slot"
  | "finalized-slot"
  | "unknown-parent"
  | "unknown-parent-payload"
  | "unknown-block"
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
  | "invalid-envelope"
  | "wrong-terminal-block"
  | "unknown-terminal-block"
  | "engine-unavailable"
  | "data-unavailable"
  | "node-stopping";

/** Thrown if a block, or its payload since gloas, was not imported. The chain is unchanged. */
export class BlockRejection extends Error {
  readonly reason: RejectionReason;
  /** The offending block, which may not be the first of a segment. */
  slot?: Slot;
  root?: RootHex;

  constructor(reason: RejectionReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "BlockRejection";
    this.reason = reason;
  }
}

/** Thrown if the execution engine found the payload invalid. */
export class InvalidPayloadRejection extends BlockRejection {
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

/** Returns true if the block is waiting for the execution engine and has not been found invalid. */
export const isWaitingForEngine = ({ reason }: BlockRejection): boolean =>
  reason === "engine-unavailable" || reason === "unknown-terminal-block";

/** Rejections for what has not arrived yet: data, the block of a payload, or the payload that a block is built on. */
const AWAITING: ReadonlySet<RejectionReason> = new Set(["data-unavailable", "unknown-block", "unknown-parent-payload"]);

/** Returns true if the chain keeps the block or payload and retries the import itself. */
export const isHeld = (rejection: BlockRejection): boolean =>
  isWaitingForEngine(rejection) || AWAITING.has(rejection.reason);

/** Returns true if the block was not checked because the node is stopping. */
export const isNodeStopping = ({ reason }: BlockRejection): boolean => reason === "node-stopping";

/**
 * Rejection reasons that apply to every block with the same root. Excludes bad signatures, because the root does not
 * cover signatures.
 */
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

export const isPermanentRejection = ({ reason }: BlockRejection): boolean => CONDEMNING.has(reason);

/** Adds the offending block to a rejection that lacks one. */
export function attributeTo<E>(error: E, block: { slot: Slot; root: RootHex }): E {
  if (error instanceof BlockRejection) {
    error.slot ??= block.slot;
    error.root ??= block.root;
  }
  return error;
}
