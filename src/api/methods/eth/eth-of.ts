import { unsupported } from "../../../errors/failure.ts";
import type { ApiContext } from "../../context.ts";
import { optional, required } from "../../definition.ts";
import { blockNumber, ethAddress, ethBlockId, hash32 } from "../../params/eth.ts";

/** Returns the service that answers `eth_*`. Throws if the node executes no payloads itself. */
export function ethOf({ eth }: ApiContext): NonNullable<ApiContext["eth"]> {
  if (eth) return eth;
  throw unsupported("This node has no EVM. Start a dev chain with `fanal dev --evm`.");
}

/** What all methods of the execution layer have in common. */
export const ETH_READ = {
  failures: ["unsupported"],
  cost: "cheap",
  access: "read",
  needsEvm: true,
} as const;

export const ADDRESS = required(ethAddress, "Address of the account.");
export const STATE_BLOCK = optional(ethBlockId, "Block whose state is read: number, tag or hash. Default: latest.", {
  name: "block",
});
export const BLOCK_NUMBER = required(blockNumber, "Block number or tag.");
export const BLOCK_HASH = required(hash32, "Block hash.");
