import type { Common } from "@ethereumjs/common";

/** Rules that differ between forks since Paris, apart from the instruction set. */
export interface InterpreterRules {
  /** EIP-3860: init code is metered and limited. */
  limitsInitCode: boolean;
  /** Maximum length of init code, if limited (EIP-3860, EIP-7954). */
  initCodeLimit: number;
  /** EIP-6780: SELFDESTRUCT deletes only contracts created in the same transaction. */
  keepsDestructed: boolean;
  /** EIP-7702: accounts may delegate to code. */
  hasDelegations: boolean;
  /** EIP-8037: new state has its own gas. Amsterdam's other changes of gas apply as well (EIP-8038). */
  hasStateGas: boolean;
  coldAccountGas: number;
  callValueGas: number;
  /** Gas for reading another account's code, in addition to the access. */
  codeReadGas: number;
}

export function rulesOf(common: Common): InterpreterRules {
  const hasStateGas = common.isActivatedEIP(8037);
  return {
    limitsInitCode: common.isActivatedEIP(3860),
    initCodeLimit: common.isActivatedEIP(7954) ? 131_072 : 49_152,
    keepsDestructed: common.isActivatedEIP(6780),
    hasDelegations: common.isActivatedEIP(7702),
    hasStateGas,
    coldAccountGas: hasStateGas ? 3000 : 2600,
    callValueGas: hasStateGas ? 11_300 : 9000,
    codeReadGas: hasStateGas ? 100 : 0,
  };
}
