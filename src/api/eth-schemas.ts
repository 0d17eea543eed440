import { boolean, described, either, type JsonSchema, list, nothing, object, reference } from "./schema-builders.ts";

const hexText = (pattern: string): JsonSchema => ({ type: "string", pattern });
const nullable = (schema: JsonSchema): JsonSchema => either(schema, nothing);

const quantity = reference("Quantity");
const hash = reference("Root");
const address = reference("Address");
const bytes = reference("Bytes");

/** Objects of the execution layer, as defined by execution-apis. */
export const ETH_OBJECTS = {
  Quantity: described(hexText("^0x(0|[1-9a-f][0-9a-f]*)$"), "An integer in hex without leading zeros."),
  Bytes: described(hexText("^0x([0-9a-f]{2})*$"), "Bytes in hex."),
  EthLog: object({
    address,
    topics: list(hash),
    data: bytes,
    blockNumber: quantity,
    blockHash: hash,
    blockTimestamp: quantity,
    transactionHash: hash,
    transactionIndex: quantity,
    logIndex: quantity,
    removed: boolean,
  }),
  EthTransaction: described(
    object(
      {
        blockHash: nullable(hash),
        blockNumber: nullable(quantity),
        transactionIndex: nullable(quantity),
        from: address,
        hash,
        type: quantity,
        nonce: quantity,
        to: nullable(address),
        gas: quantity,
        value: quantity,
        input: bytes,
        gasPrice: quantity,
        r: quantity,
        s: quantity,
        v: quantity,
      },
      {
        blockTimestamp: quantity,
        chainId: quantity,
        yParity: quantity,
        maxFeePerGas: quantity,
        maxPriorityFeePerGas: quantity,
        maxFeePerBlobGas: quantity,
        blobVersionedHashes: list(hash),
        accessList: list(object({ address, storageKeys: list(hash) })),
        authorizationList: list(
          object({ chainId: quantity, address, nonce: quantity, yParity: quantity, r: quantity, s: quantity }),
        ),
      },
    ),
    "A signed transaction. Its place in a block is null while it is pending.",
  ),
  EthReceipt: object(
    {
      type: quantity,
      transactionHash: hash,
      transactionIndex: quantity,
      blockHash: hash,
      blockNumber: quantity,
      from: address,
      to: nullable(address),
      cumulativeGasUsed: quantity,
      gasUsed: quantity,
      contractAddress: nullable(address),
      logs: list(reference("EthLog")),
      logsBloom: bytes,
      status: quantity,
      effectiveGasPrice: quantity,
    },
    { blobGasUsed: quantity, blobGasPrice: quantity },
  ),
  EthAccountAccess: described(
    object({
      address,
      storageChanges: list(object({ key: hash, changes: list(object({ index: quantity, value: hash })) })),
      storageReads: list(hash),
      balanceChanges: list(object({ index: quantity, value: quantity })),
      nonceChanges: list(object({ index: quantity, value: quantity })),
      codeChanges: list(object({ index: quantity, code: bytes })),
    }),
    "An account in a block access list. The index of a change is 0 before the transactions, the position of a transaction plus 1, or the number of transactions plus 1 after them.",
  ),
  EthBlock: described(
    object(
      {
        number: quantity,
        hash: nullable(hash),
        parentHash: hash,
        nonce: nullable(bytes),
        mixHash: hash,
        sha3Uncles: hash,
        logsBloom: bytes,
        transactionsRoot: hash,
        stateRoot: hash,
        receiptsRoot: hash,
        miner: nullable(address),
        difficulty: quantity,
        extraData: bytes,
        gasLimit: quantity,
        gasUsed: quantity,
        timestamp: quantity,
        baseFeePerGas: quantity,
        size: quantity,
        transactions: either(list(hash), list(reference("EthTransaction"))),
        uncles: list(hash),
      },
      {
        withdrawalsRoot: hash,
        withdrawals: list(object({ index: quantity, validatorIndex: quantity, address, amount: quantity })),
        blobGasUsed: quantity,
        excessBlobGas: quantity,
        parentBeaconBlockRoot: hash,
        requestsHash: hash,
        blockAccessListHash: hash,
        slotNumber: quantity,
      },
    ),
    "An execution block. A pending one has neither hash, nonce nor miner.",
  ),
} satisfies Record<string, JsonSchema>;
