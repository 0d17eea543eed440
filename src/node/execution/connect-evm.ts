import type { DevEvm } from "../../dev/evm/dev-evm.ts";
import type { EvmThread } from "../../evm/thread/evm-thread.ts";
import type { BeaconNode } from "../beacon-node.ts";

/** Connects the EVM to the chain that it executes, and brings it to the head. Loaded only for chains that have it. */
export async function connectEvm(evm: EvmThread, { chain, db }: BeaconNode): Promise<DevEvm> {
  const { DevEvm } = await import("../../dev/evm/dev-evm.ts");
  return DevEvm.connect(evm, chain, db);
}
