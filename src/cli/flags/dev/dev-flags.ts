import { EXECUTION_FLAGS } from "../execution/execution-flags.ts";
import { booleanFlag, type FlagTable, valueFlag } from "../flag.ts";
import { speedFactor } from "../flag-values.ts";
import { networkFlags } from "../network/network-flags.ts";
import { ETH_RPC_FLAGS } from "../server/eth-rpc-flags.ts";
import { SIGNER_FLAGS } from "../server/signer-flags.ts";
import { dataDirFlag, SHARED_FLAGS } from "../shared-flags.ts";
import { DEV_GENESIS_FLAGS } from "./dev-genesis-flags.ts";
import { devBlobsFlag, devValidatorsFlag } from "./validator-flags.ts";

export const DEV_FLAGS = {
  ...DEV_GENESIS_FLAGS,
  devValidators: devValidatorsFlag({
    description: "Validators run in this process; LIST is indices and ranges such as 0-15,20",
    fallback: "all",
  }),
  devBlobs: devBlobsFlag(
    "Blobs per block from deneb on, such as 0-6, up to the limit of the fork; created by the built-in execution engine",
  ),
  speed: valueFlag({
    name: "speed",
    kind: "number",
    placeholder: "FACTOR",
    description:
      "Speed of chain time relative to the wall clock; fractions slow it down, 0 pauses it until a call resumes it",
    fallback: 1,
    parse: speedFactor,
  }),
  auto: booleanFlag({ name: "auto", description: "Run chain time; --no-auto starts paused", fallback: true }),
  catchUp: booleanFlag({
    name: "catch-up",
    description:
      "Leave the slots that passed while the chain was stopped empty, and follow the wall clock; requires --speed 1",
  }),
  reset: booleanFlag({ name: "reset", description: "Delete the chain in the data directory and start a new one" }),
  dataDir: dataDirFlag(".fanal/dev"),
  ...EXECUTION_FLAGS,
  // The chain's own validators create all blobs, so other nodes may not have every column.
  ...networkFlags({ isOn: false, address: "127.0.0.1", isSupernode: true }),
  ...ETH_RPC_FLAGS,
  ...SIGNER_FLAGS,
  ...SHARED_FLAGS,
} as const satisfies FlagTable;
