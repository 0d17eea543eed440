import { asBigint, asBytes, asList, encodeBytes, encodeList, encodeNumber, RlpError, type RlpItem } from "../rlp.ts";

/** Header of a post-merge execution block. */
export interface Header {
  parentHash: Uint8Array;
  feeRecipient: Uint8Array;
  stateRoot: Uint8Array;
  transactionsRoot: Uint8Array;
  receiptsRoot: Uint8Array;
  logsBloom: Uint8Array;
  number: bigint;
  gasLimit: bigint;
  gasUsed: bigint;
  timestamp: bigint;
  extraData: Uint8Array;
  prevRandao: Uint8Array;
  baseFeePerGas: bigint;
  /** Since Shanghai. */
  withdrawalsRoot?: Uint8Array;
  /** Since Cancun. */
  blobGasUsed?: bigint;
  excessBlobGas?: bigint;
  parentBeaconBlockRoot?: Uint8Array;
  /** Since Prague. */
  requestsHash?: Uint8Array;
  /** Since Amsterdam: hash of the block access list (EIP-7928). */
  blockAccessListHash?: Uint8Array;
  /** Since Amsterdam (EIP-7843). */
  slotNumber?: bigint;
}

/** Keccak-256 of the RLP of an empty list. */
export const NO_OMMERS_HASH: Uint8Array = Buffer.from(
  "1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
  "hex",
);
export const NO_NONCE: Uint8Array = new Uint8Array(8);
/** Number of header fields before Shanghai. */
const BASE_FIELDS = 16;

export function encodeHeader(header: Header): Uint8Array {
  const { withdrawalsRoot, blobGasUsed, excessBlobGas, parentBeaconBlockRoot, requestsHash } = header;
  const { blockAccessListHash, slotNumber } = header;
  const items = [
    encodeBytes(header.parentHash),
    encodeBytes(NO_OMMERS_HASH),
    encodeBytes(header.feeRecipient),
    encodeBytes(header.stateRoot),
    encodeBytes(header.transactionsRoot),
    encodeBytes(header.receiptsRoot),
    encodeBytes(header.logsBloom),
    encodeNumber(0),
    encodeNumber(header.number),
    encodeNumber(header.gasLimit),
    encodeNumber(header.gasUsed),
    encodeNumber(header.timestamp),
    encodeBytes(header.extraData),
    encodeBytes(header.prevRandao),
    encodeBytes(NO_NONCE),
    encodeNumber(header.baseFeePerGas),
  ];
  if (withdrawalsRoot !== undefined) items.push(encodeBytes(withdrawalsRoot));
  if (parentBeaconBlockRoot !== undefined) {
    items.push(encodeNumber(blobGasUsed ?? 0n), encodeNumber(excessBlobGas ?? 0n), encodeBytes(parentBeaconBlockRoot));
  }
  if (requestsHash !== undefined) items.push(encodeBytes(requestsHash));
  if (blockAccessListHash !== undefined) {
    items.push(encodeBytes(blockAccessListHash), encodeNumber(slotNumber ?? 0n));
  }
  return encodeList(items);
}

export function decodeHeader(item: RlpItem): Header {
  const fields = asList(item);
  if (fields.length < BASE_FIELDS) throw new RlpError(`Header has ${fields.length} fields, expected ${BASE_FIELDS}.`);
  return {
    parentHash: asBytes(fields[0]),
    feeRecipient: asBytes(fields[2]),
    stateRoot: asBytes(fields[3]),
    transactionsRoot: asBytes(fields[4]),
    receiptsRoot: asBytes(fields[5]),
    logsBloom: asBytes(fields[6]),
    number: asBigint(fields[8]),
    gasLimit: asBigint(fields[9]),
    gasUsed: asBigint(fields[10]),
    timestamp: asBigint(fields[11]),
    extraData: asBytes(fields[12]),
    prevRandao: asBytes(fields[13]),
    baseFeePerGas: asBigint(fields[15]),
    ...(fields.length > 16 && { withdrawalsRoot: asBytes(fields[16]) }),
    ...(fields.length > 17 && {
      blobGasUsed: asBigint(fields[17]),
      excessBlobGas: asBigint(fields[18]),
      parentBeaconBlockRoot: asBytes(fields[19]),
    }),
    ...(fields.length > 20 && { requestsHash: asBytes(fields[20]) }),
    ...(fields.length > 21 && { blockAccessListHash: asBytes(fields[21]), slotNumber: asBigint(fields[22]) }),
  };
}
