import type { StateId, StateValidator, ValidatorId } from "../client/chain-types.ts";
import type { Client } from "../client/index.ts";
import type { Methods } from "../client/methods.ts";

type Params<Name extends keyof Methods> = NonNullable<Parameters<Methods[Name]>[0]>;
type Result<Name extends keyof Methods> = ReturnType<Methods[Name]>;

/** Actions of one validator. Operations are pending until the next block. */
export interface ValidatorActions {
  /** Returns the validator with its balance and status in a state; the head by default. */
  get(state?: StateId): Promise<StateValidator>;
  /** Returns the balance, in Gwei, in a state; the head by default. */
  balance(state?: StateId): Promise<bigint>;
  /** Returns the status in a state; the head by default. */
  status(state?: StateId): Promise<StateValidator["status"]>;
  /** Makes the validator sign two blocks for one slot, or two attestations for one target. */
  slash(kind?: "proposer" | "attester"): Result<"dev_slash">;
  /** Signs a voluntary exit. */
  exit(): Result<"dev_exit">;
  /**
   * Requests a withdrawal of an amount in Gwei or, if the amount is omitted, an exit with a full withdrawal (EIP-7002).
   */
  withdraw(amount?: number | bigint): Result<"dev_withdraw">;
  /** Makes a deposit for the validator; 32 ETH by default, in Gwei. */
  topUp(amount?: number | bigint): Result<"dev_deposit">;
  /** Changes the withdrawal credentials: from BLS to execution, or from execution to compounding. */
  changeCredentials(to: Omit<Params<"dev_changeCredentials">, "validator">): Result<"dev_changeCredentials">;
  /** Requests a consolidation into another validator (EIP-7251). */
  consolidateInto(target: ValidatorId): Result<"dev_consolidate">;
}

export function validatorActions(client: Client, validator: ValidatorId): ValidatorActions {
  const get = (state: StateId = "head") =>
    client.get_v1_beacon_states_stateId_validators_validatorId({ state_id: state, validator_id: validator });
  const withAmount = (amount: number | bigint | undefined) => ({ validator, ...(amount !== undefined && { amount }) });
  return {
    get,
    balance: async (state) => BigInt((await get(state)).balance),
    status: async (state) => (await get(state)).status,
    slash: (kind = "proposer") => client.dev_slash({ validators: validator, kind }),
    exit: () => client.dev_exit({ validator }),
    withdraw: (amount) => client.dev_withdraw(withAmount(amount)),
    topUp: (amount) => client.dev_deposit(withAmount(amount)),
    changeCredentials: (to) => client.dev_changeCredentials({ validator, ...to }),
    consolidateInto: (target) => client.dev_consolidate({ source: validator, target }),
  };
}
