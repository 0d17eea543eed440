import { type EVMResult, Message } from "@ethereumjs/evm";
import type { Frame } from "../frame.ts";

const DEPTH_LIMIT = 1024;

type ChildOptions = Omit<ConstructorParameters<typeof Message>[0], "depth" | "gasRefund" | "blobVersionedHashes">;

/** Returns true if a message with a value may start. Otherwise, the call fails without starting a message. */
export async function canSend({ message, address, environment }: Frame, value: bigint): Promise<boolean> {
  if (message.depth >= DEPTH_LIMIT) return false;
  if (value === 0n) return true;
  const account = await environment.host.state.account(address.bytes);
  return (account?.balance ?? 0n) >= value;
}

/**
 * Runs a message in the EVM library, and adds its effects to the frame: gas, refund, logs, created and deleted
 * accounts.
 */
export async function runChild(frame: Frame, options: ChildOptions): Promise<EVMResult> {
  const { message, environment } = frame;
  const selfdestruct = new Map(frame.selfdestruct);
  const createdAddresses = new Set(frame.createdAddresses);
  const child = new Message({
    ...options,
    depth: message.depth + 1,
    gasRefund: BigInt(frame.gasRefund),
    selfdestruct,
    createdAddresses,
    ...(message.blobVersionedHashes && { blobVersionedHashes: message.blobVersionedHashes }),
  });
  const result = await environment.evm.runCall({ message: child });
  const { exceptionError, executionGasUsed, gasRefund = 0n, logs = [], stateGasSpilled = 0n } = result.execResult;
  frame.charge(Number(executionGasUsed));
  for (const log of logs) frame.logs.push(log);
  if (exceptionError === undefined) {
    for (const [address, beneficiary] of selfdestruct) frame.selfdestruct.set(address, beneficiary);
    for (const address of createdAddresses) frame.createdAddresses.add(address);
    frame.gasRefund = Number(gasRefund);
    if (environment.rules.hasStateGas) frame.mergeStateGas(Number(stateGasSpilled));
  }
  return result;
}
