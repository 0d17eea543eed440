import { EVMError } from "@ethereumjs/evm";
import { EthError } from "../eth-error.ts";
import { data } from "../json/hex.ts";

/** Failure of a call that was executed. */
export interface CallFailure {
  readonly kind: "reverted" | "outOfGas" | "halted";
  /** geth's error message. */
  readonly message: string;
  /** Return data of REVERT; empty for other failures. */
  readonly returnData: Uint8Array;
}

const { errorMessages } = EVMError;
/** geth's messages, keyed by the `@ethereumjs` messages they replace. */
const MESSAGES: Readonly<Record<string, string>> = {
  [errorMessages.INVALID_JUMP]: "invalid jump destination",
  [errorMessages.STATIC_STATE_CHANGE]: "write protection",
  [errorMessages.CREATE_COLLISION]: "contract address collision",
  [errorMessages.CODESIZE_EXCEEDS_MAXIMUM]: "max code size exceeded",
  [errorMessages.CODESTORE_OUT_OF_GAS]: "contract creation code storage out of gas",
  [errorMessages.INVALID_BYTECODE_RESULT]: "invalid code: must not begin with 0xef",
  [errorMessages.INITCODE_SIZE_VIOLATION]: "max initcode size exceeded",
  [errorMessages.INSUFFICIENT_BALANCE]: "insufficient balance for transfer",
};
const OUT_OF_GAS: ReadonlySet<string> = new Set([errorMessages.OUT_OF_GAS, errorMessages.CODESTORE_OUT_OF_GAS]);

/** Selectors of Error(string) and Panic(uint256). */
const ERROR = "08c379a0";
const PANIC = "4e487b71";
const SELECTOR_SIZE = 4;
const WORD = 32;
/** Solidity's panic codes. */
const PANIC_REASONS: Readonly<Record<number, string>> = {
  0: "generic panic",
  1: "assert(false)",
  17: "arithmetic underflow or overflow",
  18: "division or modulo by zero",
  33: "enum overflow",
  34: "invalid encoded storage byte array accessed",
  49: "out-of-bounds array access; popping on an empty array",
  50: "out-of-bounds access of an array or bytesN",
  65: "out of memory",
  81: "uninitialized function",
};

/** Converts an EVM exception into a failure. */
export function callFailure(exception: string, returnData: Uint8Array): CallFailure {
  if (exception === errorMessages.REVERT) return { kind: "reverted", message: "execution reverted", returnData };
  // Some messages end with a position in the code.
  const [error = ""] = exception.split(" at ");
  const kind = OUT_OF_GAS.has(error) ? "outOfGas" : "halted";
  return { kind, message: MESSAGES[error] ?? error, returnData: new Uint8Array(0) };
}

/** Converts a failure into the error for the JSON-RPC response. */
export function failureError({ kind, message, returnData }: CallFailure): EthError {
  return kind === "reverted" ? EthError.reverted(data(returnData), revertReason(returnData)) : new EthError(message);
}

/** Decodes the reason given by a Solidity `require`, `revert` or panic. Returns undefined for other data. */
export function revertReason(returnData: Uint8Array): string | undefined {
  const bytes = Buffer.from(returnData.buffer, returnData.byteOffset, returnData.length);
  const selector = bytes.toString("hex", 0, SELECTOR_SIZE);
  const body = bytes.subarray(SELECTOR_SIZE);
  if (selector === PANIC && body.length === WORD) {
    const code = BigInt(`0x${body.toString("hex")}`);
    return PANIC_REASONS[Number(code)] ?? `unknown panic code: 0x${code.toString(16)}`;
  }
  if (selector !== ERROR || body.length < 2 * WORD) return undefined;
  const length = Number(BigInt(`0x${body.toString("hex", WORD, 2 * WORD)}`));
  return length <= body.length - 2 * WORD ? body.toString("utf8", 2 * WORD, 2 * WORD + length) : undefined;
}
