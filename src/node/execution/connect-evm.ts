import type { DevEvm } from "../../dev/evm/dev-evm.ts";
import type { EvmEngine } from "../../evm/engine/evm-engine.ts";
import type { BeaconNode } from "../beacon-node.ts";

/** Connects the EVM to the chain that it executes, and brings it to the head. Loaded only for chains that have it. */
export async function connectEvm(engine: EvmEngine, { chain, db }: BeaconNode): Promise<DevEvm> {
  const { DevEvm } = await import("../../dev/evm/dev-evm.ts");
  return DevEvm.connect(engine, chain, db);
}
