import { ForkName } from "@lodestar/params";
import { fails, INVALID, LAST_UINT64, NOT_FOUND, REJECTED, type SpecialCall, UNSUPPORTED } from "./special-call.ts";

const ADDRESS = `0x${"ad".repeat(20)}`;

/** Special calls of the dev chain methods. Their effects are tested in test/control, on separate chains. */
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
  dev_revert: [
    fails("a snapshot that was never taken", NOT_FOUND, () => ["0xffff"]),
    fails("a number without 0x", INVALID, () => ["1"]),
  ],
  dev_dump: [fails("a file elsewhere", INVALID, () => ["../chain"])],
  dev_load: [
    fails("nothing", INVALID, () => []),
    fails("a dump and a file", INVALID, () => ["0x00", "chain"]),
    fails("a file that is not there", NOT_FOUND, () => ({ file: "nothing" })),
  ],
  dev_slash: [
    fails("an unknown validator", NOT_FOUND, () => [LAST_UINT64]),
    fails("one that is known and one that is not", NOT_FOUND, () => [[1, LAST_UINT64], "attester"]),
    fails("nobody", INVALID, () => [[]]),
  ],
  dev_exit: [fails("an unknown validator", NOT_FOUND, () => [LAST_UINT64])],
  dev_withdraw: [
    fails("an unknown validator", NOT_FOUND, () => [LAST_UINT64], ForkName.fulu),
    fails("a validator without an address", REJECTED, () => [1, 1]),
    fails("many times the balance", INVALID, () => [1, LAST_UINT64], ForkName.fulu),
    fails("a part without compounding credentials", REJECTED, () => [14, 1]),
  ],
  dev_changeCredentials: [
    fails("an unknown validator", NOT_FOUND, () => [LAST_UINT64, ADDRESS], ForkName.fulu),
    fails("no address", INVALID, () => [1], ForkName.fulu),
    fails("compounding credentials of one without an address", REJECTED, () => [1, ADDRESS, "0x02"]),
  ],
  dev_consolidate: [
    fails("an unknown validator", NOT_FOUND, () => [14, LAST_UINT64], ForkName.fulu),
    fails("a validator with itself", INVALID, () => [15, 15], ForkName.fulu),
    fails("a target that does not compound", REJECTED, () => [14, 1]),
  ],
  dev_deposit: [
    fails("an unknown validator", NOT_FOUND, () => ({ validator: LAST_UINT64 })),
    fails("less than can be deposited", INVALID, () => ({ amount: 1 })),
    fails("a validator that is there and new ones", INVALID, () => ({ validator: 1, count: 1 })),
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
  ...Object.fromEntries(
    ["dev_withholdPayloads", "dev_delayPayloads", "dev_falsifyPayloads", "dev_withholdBlobs"].map((name) => [
      name,
      [
        fails("more slots than a call may affect", INVALID, () => [LAST_UINT64]),
        fails("a slot before gloas", UNSUPPORTED, () => [1]),
      ],
    ]),
  ),
  ...Object.fromEntries(
    ["dev_withholdBuilderPayloads", "dev_topUpBuilder", "dev_exitBuilder"].map((name) => [
      name,
      [
        fails("an index that no builder has", INVALID, () => ["-1"]),
        fails("a chain before gloas", UNSUPPORTED, () => [0]),
      ],
    ]),
  ),
  dev_bid: [fails("no value", INVALID, () => [0]), fails("a chain before gloas", UNSUPPORTED, () => [0, "1"])],
  dev_setPayloadVotes: [
    fails("no vote", INVALID, () => []),
    fails("a vote and none", INVALID, () => ({ abstain: true, payload_present: true })),
  ],
  dev_getPayload: [
    fails("an unknown block", NOT_FOUND, () => [LAST_UINT64]),
    fails("a block before gloas", UNSUPPORTED, () => ["head"]),
  ],
  dev_revealPayload: [fails("a block before gloas", UNSUPPORTED, () => ["head"])],
  anvil_reorg: [
    fails("no blocks", INVALID, () => [0]),
    fails("transactions", INVALID, () => [1, [["0x00", 0]]]),
    fails("blocks that are final", REJECTED, () => ["0x10000"]),
  ],
  anvil_reset: [
    fails("another chain", UNSUPPORTED, () => [{ forking: { jsonRpcUrl: "http://127.0.0.1:1" } }]),
    fails("a block of another chain", UNSUPPORTED, () => [{ forking: { blockNumber: 1 } }]),
  ],
  anvil_mine: [
    fails("more blocks than a call may take", INVALID, () => [LAST_UINT64]),
    fails("more slots than a call may take", INVALID, () => ["0x10000", "0xffff"]),
  ],
  evm_mine: [
    fails("a block of the past", INVALID, () => [1]),
    fails("a block of the far future", INVALID, (chain) => [chain.nextSlotSeconds() + 1_000_000]),
  ],
  evm_increaseTime: [fails("more slots than a call may take", INVALID, () => [1_000_000])],
  evm_setNextBlockTimestamp: [
    fails("a block of the past", INVALID, () => [1]),
    fails("a block of the far future", INVALID, (chain) => [chain.nextSlotSeconds() + 1_000_000]),
  ],
  evm_setAutomine: [fails("a word", INVALID, () => ["true"])],
  anvil_loadState: [fails("a file that is no dump", REJECTED, () => ["0x00"])],
  evm_setIntervalMining: [
    fails("time that flows back", INVALID, () => [-1]),
    fails("more than any machine can", INVALID, () => [1e-9]),
  ],
};
