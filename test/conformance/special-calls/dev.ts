import { fails, INVALID, LAST_UINT64, NOT_FOUND, REJECTED, type SpecialCall } from "./special-call.ts";

/** Of the methods that control a dev chain. What they do is tested where the chain is theirs, in test/control. */
export const DEV_CALLS: Readonly<Record<string, readonly SpecialCall[]>> = {
  dev_advance: [
    fails("slots and epochs", INVALID, () => [1, 1]),
    fails("more slots than a call may take", INVALID, () => [LAST_UINT64]),
    fails("a limit of nothing", INVALID, () => ({ limit: 1 })),
    fails("a status of an unknown validator", NOT_FOUND, () => ({
      until: { validator: LAST_UINT64, status: "exited_slashed" },
    })),
  ],
  dev_skip: [
    fails("slots and epochs", INVALID, () => [1, 1]),
    fails("more slots than a call may take", INVALID, () => [LAST_UINT64]),
  ],
  dev_keys: [
    fails("a validator beyond the last", NOT_FOUND, () => [LAST_UINT64]),
    fails("a last one beyond the last", NOT_FOUND, () => [0, LAST_UINT64]),
    fails("a range that ends before it begins", INVALID, () => [1, 0]),
  ],
  dev_setSpeed: [
    fails("time that flows back", INVALID, () => [-1]),
    fails("more than any machine can", INVALID, () => [1e9]),
  ],
  dev_setValidators: [
    fails("nobody", INVALID, () => []),
    fails("who is online and who is offline", INVALID, () => ["all", "none"]),
    fails("an unknown validator", NOT_FOUND, () => [LAST_UINT64]),
    fails("a range up to an unknown validator", NOT_FOUND, () => [`0-${LAST_UINT64}`]),
  ],
  dev_reorg: [fails("no blocks", INVALID, () => [0]), fails("blocks that are final", REJECTED, () => [65_536])],
  dev_fork: [
    fails("a branch from before what is final", REJECTED, () => [65_536]),
    fails("more slots than a call may take", INVALID, () => ({ slots: LAST_UINT64 })),
    fails("more votes than there are", INVALID, () => ({ votes: 1.5 })),
  ],
  dev_delayBlocks: [
    fails("more slots than can be late", INVALID, () => [LAST_UINT64]),
    fails("a moment before attesting is due", INVALID, () => ({ seconds: 0 })),
  ],
};
