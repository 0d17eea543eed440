/** Calls that reach parts of the EVM that examples do not: contracts, reverts, overrides, traces and filters. */

const FUNDED = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const CONTRACT = `0x${"c0".repeat(20)}`;
const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;

/** Creation code that reverts with one byte. */
const REVERTING = "0x60015f5360015ffd";
/** Runtime code that adds one to slot 0, emits a log with two topics and returns the slot. */
const COUNTING = "0x5f54600101805f555f5260015f60205fa260205ff3";
/** Runtime code that never ends. */
const LOOPING = "0x5b5f56";
/** Runtime code that calls a precompile whose address is the first byte of the calldata, with the rest of it. */
const PRECOMPILE = "0x60013603600160003760006000600136036000345f355f1a5af1503d5f5f3e3d5ff3";

const withCode = (code: string) => ({ [CONTRACT]: { code, balance: "0xffff", state: { [word(0)]: word(7) } } });
const CALL = { from: FUNDED, to: CONTRACT, value: "0x1", data: "0x0102030405", gas: "0x186a0" };
const ACCESS = { accessList: [{ address: CONTRACT, storageKeys: [word(0), word(1)] }] };
const FEES = { maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x1" };
const BLOCK = { number: "0x20", time: "0x70000000", gasLimit: "0x1c9c380", baseFeePerGas: "0x7", blobBaseFee: "0x2" };
const AUTHORIZATION = { chainId: "0x7a69", address: CONTRACT, nonce: "0x0", yParity: "0x1", r: word(5), s: word(6) };

const CALLS: readonly unknown[][] = [
  [{ data: REVERTING }, "latest"],
  [{ ...CALL, ...ACCESS, ...FEES }, "latest", withCode(COUNTING), BLOCK],
  [CALL, "pending", withCode(PRECOMPILE)],
  [{ ...CALL, authorizationList: [AUTHORIZATION] }, { blockNumber: "0x1" }, withCode(COUNTING)],
  [{ ...CALL, blobVersionedHashes: [`0x01${"00".repeat(31)}`], maxFeePerBlobGas: "0x10" }, "0x1"],
  [{ ...CALL, gas: "0xffff" }, "latest", withCode(LOOPING)],
];

const SIMULATED = {
  blockStateCalls: [
    { stateOverrides: withCode(COUNTING), blockOverrides: { time: "0x70000000" }, calls: [CALL, CALL] },
    { calls: [{ ...CALL, ...FEES, nonce: "0x1" }, { data: REVERTING }] },
  ],
  traceTransfers: true,
  validation: false,
  returnFullTransactions: true,
};

/** Lists of valid parameters by method. */
export const EVM_PARAMS: Readonly<Record<string, readonly unknown[][]>> = {
  eth_call: CALLS,
  eth_estimateGas: CALLS,
  eth_createAccessList: CALLS.map((params) => params.slice(0, 3)),
  eth_simulateV1: [[SIMULATED, "latest"]],
  debug_traceCall: [
    [CALL, "latest", { stateOverrides: withCode(COUNTING), enableMemory: true, limit: 9 }],
    [CALL, "latest", { stateOverrides: withCode(PRECOMPILE), tracer: "callTracer", tracerConfig: { withLog: true } }],
  ],
  eth_sendTransaction: [
    [{ from: FUNDED, data: COUNTING, ...FEES }],
    [{ from: FUNDED, to: CONTRACT, gasPrice: "0x77359400", type: "0x1", ...ACCESS }],
  ],
  eth_getLogs: [[{ fromBlock: "0x0", toBlock: "latest", address: [CONTRACT], topics: [[word(1), word(2)], null] }]],
  eth_newFilter: [[{ fromBlock: "0x1", topics: [word(1)] }]],
  eth_feeHistory: [["0x5", "latest", [0, 50.5, 100]]],
  eth_getProof: [[CONTRACT, ["0x0", word(1)], "latest"]],
};
