import { createEIP7708TransferLog } from "@ethereumjs/evm";
import { Account, Address, bytesToHex } from "@ethereumjs/util";
import type { Frame } from "../frame.ts";
import { ACCOUNT_WRITE_GAS, NEW_ACCOUNT_GAS, NEW_ACCOUNT_STATE_GAS, SELFDESTRUCT_GAS } from "../gas.ts";
import type { Instructions } from "../instruction.ts";
import { toAddressBytes } from "../words/word.ts";

export const SELF_DESTRUCT: Instructions = [
  {
    opcode: 0xff,
    name: "SELFDESTRUCT",
    gas: SELFDESTRUCT_GAS,
    pops: 1,
    pushes: 0,
    hasDynamicGas: true,
    isWriting: true,
    run: selfDestruct,
  },
];

/** Moves the balance to the beneficiary. The EVM library deletes the account after the transaction. */
async function selfDestruct(frame: Frame): Promise<void> {
  const { address, environment } = frame;
  const { rules, recorder } = environment;
  const { journal, stateManager } = environment.evm;
  const beneficiary = new Address(toAddressBytes(frame.pop()));
  if (!frame.warmAccount(beneficiary.bytes)) frame.charge(rules.coldAccountGas);
  recorder?.touch(beneficiary.bytes);
  const balance = (await stateManager.getAccount(address))?.balance ?? 0n;
  const receiver = await stateManager.getAccount(beneficiary);
  if (balance > 0n && (receiver === undefined || receiver.isEmpty())) {
    frame.charge(rules.hasStateGas ? ACCOUNT_WRITE_GAS : NEW_ACCOUNT_GAS);
    if (rules.hasStateGas) frame.chargeStateGas(NEW_ACCOUNT_STATE_GAS);
  }
  const isToSelf = beneficiary.equals(address);
  if (!isToSelf) {
    const credited = receiver ?? new Account();
    credited.balance += balance;
    await journal.putAccount(beneficiary, credited);
  }
  if (rules.hasStateGas && balance > 0n && !isToSelf) {
    frame.logs.push(createEIP7708TransferLog(address, beneficiary, balance));
  }
  const isDeleted = !rules.keepsDestructed || frame.createdAddresses.has(address.toString());
  // EIP-8246: since Amsterdam, a deleted account keeps its balance.
  if ((isDeleted && !rules.hasStateGas) || !isToSelf) await stateManager.modifyAccountFields(address, { balance: 0n });
  frame.selfdestruct.set(bytesToHex(address.bytes), beneficiary.toString());
  frame.stop();
}
