import { data, quantity } from "../json/hex.ts";
import type { Json } from "../json/transaction-json.ts";
import type { AccessListEntry } from "../transaction-request.ts";
import type { CallRequest } from "./call-request.ts";
import type { CallState } from "./call-state.ts";
import { NO_ADDRESS } from "./call-transaction.ts";

/** Each round can only add entries. Few calls need more than two rounds. */
const MAX_ROUNDS = 16;

/** Returns a call's access list: the accounts and slots it reads, except those already warm. */
export async function createAccessList(state: CallState, request: CallRequest): Promise<Json> {
  const warm = warmAddresses(state, request);
  let accessList: readonly AccessListEntry[] = request.accessList ?? [];
  for (let round = 0; ; round++) {
    const outcome = await state.try({ ...request, accessList }, undefined, true);
    const found = outcome.accessList.filter(
      ({ address, storageKeys }) => storageKeys.length > 0 || !warm.has(data(address)),
    );
    if (sizeOf(found) <= sizeOf(accessList) || round === MAX_ROUNDS) {
      return {
        accessList: accessList.map(entryJson),
        gasUsed: quantity(outcome.gasUsed),
        ...(outcome.failure && { error: outcome.failure.message }),
      };
    }
    accessList = found;
  }
}

/** Returns the addresses that are warm from the start: sender, recipient and precompiles. */
function warmAddresses({ machine }: CallState, { from = NO_ADDRESS, to }: CallRequest): Set<string> {
  const precompiles = [...machine.vm.evm.precompiles.keys()].map((address) => `0x${address}`);
  return new Set([...precompiles, data(from), ...(to ? [data(to)] : [])]);
}

const sizeOf = (accessList: readonly AccessListEntry[]): number =>
  accessList.reduce((size, { storageKeys }) => size + 1 + storageKeys.length, 0);

const entryJson = ({ address, storageKeys }: AccessListEntry): Json => ({
  address: data(address),
  storageKeys: storageKeys.map(data),
});
