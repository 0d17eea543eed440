import { unsupported } from "../../../errors/failure.ts";
import type { ApiContext } from "../../context.ts";
import { optional, required } from "../../definition.ts";
import { blockNumber, ethAddress, ethBlockId, hash32, quantity64 } from "../../params/eth.ts";

/** Returns the implementation of the `eth_*` methods. Throws if the node does not execute payloads itself. */
export function ethOf({ eth }: ApiContext): NonNullable<ApiContext["eth"]> {
  if (eth) return eth;
  throw unsupported(
    "This is a beacon node without an EVM. Send eth_* to an execution client, or run `fanal dev --evm`; in the library, " +
      "remove `evm: false`.",
  );
}

/** Members shared by all execution layer methods. */
export const ETH_READ = {
  failures: ["unsupported"],
  cost: "cheap",
  access: "read",
  needsEvm: true,
} as const;

/** Members shared by reads of blocks and states. */
export const ETH_STATE_READ = { ...ETH_READ, dependsOn: "evm" } as const;

/** Members shared by submissions to the execution layer. */
export const ETH_SUBMISSION = { ...ETH_READ, failures: ["rejected", "unsupported"], access: "submit" } as const;

/** Members shared by methods that sign. */
export const ETH_SIGNATURE = { ...ETH_READ, access: "dev" } as const;

/** The first of the funded accounts. */
export const FUNDED = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";

export const ADDRESS = required(ethAddress, "Address of the account.");
const stateBlock = (byDefault: string) =>
  optional(ethBlockId, `Block whose state is read: number, tag or hash. Default: ${byDefault}.`, { name: "block" });
export const STATE_BLOCK = stateBlock("latest");
export const STATE_BLOCK_OR_PENDING = stateBlock("pending");
export const BLOCK_NUMBER = required(blockNumber, "Block number or tag.");
export const TRANSACTION_HASH = required(hash32, "Transaction hash.");
export const TRANSACTION_INDEX = required(quantity64, "Position of the transaction in the block.");
export const BLOCK_HASH = required(hash32, "Block hash.");
