import { encodeBytes, encodeList, encodeNumber } from "../../rlp.ts";
import type { Frame } from "../frame.ts";
import { NEW_ACCOUNT_STATE_GAS } from "../gas.ts";
import { isEmpty } from "./accounts.ts";

const CREATE2_PREFIX = Uint8Array.of(0xff);
/** Position of the address in its hash. */
const ADDRESS_START = 12;

/** Account that a creation is about to create. */
export interface CreatedAccount {
  /** State gas charged for the account, which a failing creation returns. */
  stateGas: number;
  /** True if the address has nonce, code or storage, so that the creation fails (EIP-684, EIP-7610). */
  isTaken: boolean;
}

/** Accesses the account of a creation, and charges for it unless it exists (EIP-8037). */
export async function chargeCreatedAccount(
  frame: Frame,
  nonce: bigint,
  initCode: Uint8Array,
  salt: Uint8Array | undefined,
): Promise<CreatedAccount> {
  const { host, recorder } = frame.environment;
  const address = createdAddress(frame, nonce, initCode, salt);
  frame.warmAccount(address);
  recorder?.touch(address);
  const account = await host.state.account(address);
  const stateGas = account === undefined || isEmpty(account) ? NEW_ACCOUNT_STATE_GAS : 0;
  if (stateGas > 0) frame.chargeStateGas(stateGas);
  const isTaken =
    account !== undefined && (account.nonce > 0n || account.code.length > 0 || account.storage !== undefined);
  return { stateGas, isTaken };
}

function createdAddress(
  { address, environment }: Frame,
  nonce: bigint,
  initCode: Uint8Array,
  salt: Uint8Array | undefined,
): Uint8Array {
  const { keccak } = environment.host;
  const preimage = salt
    ? Buffer.concat([CREATE2_PREFIX, address.bytes, salt, keccak(initCode)])
    : encodeList([encodeBytes(address.bytes), encodeNumber(nonce)]);
  return keccak(preimage).slice(ADDRESS_START);
}
