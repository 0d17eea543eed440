import type {
  AccountOverride,
  BlockOverrides,
  SimulatedBlock,
  Simulation,
  StateOverrides,
} from "../../evm/eth/calls/call-request.ts";
import { bytes, ethAddress, quantity64, quantity256, word } from "./eth.ts";
import { callRequest } from "./eth-transaction.ts";
import { arrayOf, hexRecord, optionalFields, requiredFields } from "./objects.ts";
import { boolean } from "./scalars.ts";
import { addIssue, type ParamSchema } from "./schema.ts";

const slots = hexRecord("an object with slots of 32 bytes in hex as keys", 32, word);

const accountOverride = optionalFields<AccountOverride>("an object of overrides", {
  nonce: quantity64,
  balance: quantity256,
  code: bytes,
  state: slots,
  stateDiff: slots,
  movePrecompileToAddress: ethAddress,
});

export const stateOverrides: ParamSchema<StateOverrides> = hexRecord(
  "an object with addresses as keys",
  20,
  accountOverride,
);

type Withdrawal = NonNullable<BlockOverrides["withdrawals"]>[number];

const withdrawal = requiredFields<Record<"index" | "validatorIndex" | "amount", bigint> & { address: Uint8Array }>(
  "a withdrawal",
  { index: quantity64, validatorIndex: quantity64, address: ethAddress, amount: quantity64 },
).transform(({ index, validatorIndex, ...others }): Withdrawal => {
  return { ...others, index: Number(index), validatorIndex: Number(validatorIndex) };
});

export const blockOverrides: ParamSchema<BlockOverrides> = optionalFields<BlockOverrides>("an object of overrides", {
  number: quantity64,
  time: quantity64,
  gasLimit: quantity64,
  feeRecipient: ethAddress,
  prevRandao: word,
  baseFeePerGas: quantity256,
  blobBaseFee: quantity256,
  beaconRoot: word,
  withdrawals: arrayOf("withdrawals", withdrawal),
});

const simulatedBlock = optionalFields<SimulatedBlock>("an object with calls and overrides", {
  blockOverrides,
  stateOverrides,
  calls: arrayOf("calls", callRequest),
});

export const simulation: ParamSchema<Simulation> = optionalFields<Partial<Simulation>>(
  "an object with blockStateCalls",
  {
    blockStateCalls: arrayOf("simulated blocks", simulatedBlock),
    traceTransfers: boolean,
    validation: boolean,
    returnFullTransactions: boolean,
  },
).transform(({ blockStateCalls, ...options }, context) => {
  if (blockStateCalls === undefined || blockStateCalls.length === 0) {
    return addIssue(context, options, 'must have at least one block in "blockStateCalls".');
  }
  return { blockStateCalls, ...options };
});
