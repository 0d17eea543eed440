import type { Common } from "@ethereumjs/common";

/** Rules that differ between forks since Paris, apart from the instruction set. */
export interface InterpreterRules {
  /** EIP-3860: init code is metered and limited. */
  limitsInitCode: boolean;
  /** EIP-6780: SELFDESTRUCT deletes only contracts created in the same transaction. */
  keepsDestructed: boolean;
  /** EIP-7702: accounts may delegate to code. */
  hasDelegations: boolean;
}

export function rulesOf(common: Common): InterpreterRules {
  return {
    limitsInitCode: common.isActivatedEIP(3860),
    keepsDestructed: common.isActivatedEIP(6780),
    hasDelegations: common.isActivatedEIP(7702),
  };
}
