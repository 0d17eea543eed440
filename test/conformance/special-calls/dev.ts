import { fails, INVALID, LAST_UINT64, NOT_FOUND, type SpecialCall } from "./special-call.ts";

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
  dev_setSpeed: [
    fails("time that flows back", INVALID, () => [-1]),
    fails("more than any machine can", INVALID, () => [1e9]),
  ],
};
