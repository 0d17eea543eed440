import {
  BYTES_PER_LOGS_BLOOM,
  type ForkPostBellatrix,
  isForkPostCapella,
  isForkPostDeneb,
  isForkPostGloas,
  MAX_EXTRA_DATA_BYTES,
} from "@lodestar/params";
import type { bellatrix, capella, deneb, ExecutionPayload, gloas } from "@lodestar/types";
import { type JsonValue, toData, toQuantity } from "../json-value.ts";

/** Encodes a payload as ExecutionPayloadV1, V2, V3 or V4, depending on the fork. */
export function payloadToJson(fork: ForkPostBellatrix, payload: ExecutionPayload): Record<string, unknown> {
  return {
    parentHash: toData(payload.parentHash),
    feeRecipient: toData(payload.feeRecipient),
    stateRoot: toData(payload.stateRoot),
    receiptsRoot: toData(payload.receiptsRoot),
    logsBloom: toData(payload.logsBloom),
    prevRandao: toData(payload.prevRandao),
    blockNumber: toQuantity(payload.blockNumber),
    gasLimit: toQuantity(payload.gasLimit),
    gasUsed: toQuantity(payload.gasUsed),
    timestamp: toQuantity(payload.timestamp),
    extraData: toData(payload.extraData),
    baseFeePerGas: toQuantity(payload.baseFeePerGas),
    blockHash: toData(payload.blockHash),
    transactions: payload.transactions.map(toData),
    ...(isForkPostCapella(fork) && {
      withdrawals: withdrawalsToJson((payload as capella.ExecutionPayload).withdrawals),
    }),
    ...(isForkPostDeneb(fork) && blobGasToJson(payload as deneb.ExecutionPayload)),
    ...(isForkPostGloas(fork) && accessListToJson(payload as gloas.ExecutionPayload)),
  };
}

function blobGasToJson({ blobGasUsed, excessBlobGas }: deneb.ExecutionPayload) {
  return { blobGasUsed: toQuantity(blobGasUsed), excessBlobGas: toQuantity(excessBlobGas) };
}

function accessListToJson({ blockAccessList, slotNumber }: gloas.ExecutionPayload) {
  return { blockAccessList: toData(blockAccessList), slotNumber: toQuantity(slotNumber) };
}

export function payloadFromJson(fork: ForkPostBellatrix, json: JsonValue): ExecutionPayload {
  const payload: bellatrix.ExecutionPayload = {
    parentHash: json.member("parentHash").bytes(32),
    feeRecipient: json.member("feeRecipient").bytes(20),
    stateRoot: json.member("stateRoot").bytes(32),
    receiptsRoot: json.member("receiptsRoot").bytes(32),
    logsBloom: json.member("logsBloom").bytes(BYTES_PER_LOGS_BLOOM),
    prevRandao: json.member("prevRandao").bytes(32),
    blockNumber: json.member("blockNumber").number(),
    gasLimit: json.member("gasLimit").number(),
    gasUsed: json.member("gasUsed").number(),
    timestamp: json.member("timestamp").number(),
    extraData: json.member("extraData").byteList(MAX_EXTRA_DATA_BYTES),
    baseFeePerGas: json.member("baseFeePerGas").bigint(256),
    blockHash: json.member("blockHash").bytes(32),
    transactions: json
      .member("transactions")
      .list()
      .map((transaction) => transaction.byteList()),
  };
  return {
    ...payload,
    ...(isForkPostCapella(fork) && { withdrawals: json.member("withdrawals").list().map(withdrawalFromJson) }),
    ...(isForkPostDeneb(fork) && {
      blobGasUsed: json.member("blobGasUsed").bigint(64),
      excessBlobGas: json.member("excessBlobGas").bigint(64),
    }),
    ...(isForkPostGloas(fork) && {
      blockAccessList: json.member("blockAccessList").byteList(),
      slotNumber: json.member("slotNumber").number(),
    }),
  };
}

export function withdrawalsToJson(withdrawals: readonly capella.Withdrawal[]): Record<string, string>[] {
  return withdrawals.map(({ index, validatorIndex, address, amount }) => ({
    index: toQuantity(index),
    validatorIndex: toQuantity(validatorIndex),
    address: toData(address),
    amount: toQuantity(amount),
  }));
}

export function withdrawalFromJson(json: JsonValue): capella.Withdrawal {
  return {
    index: json.member("index").number(),
    validatorIndex: json.member("validatorIndex").number(),
    address: json.member("address").bytes(20),
    amount: json.member("amount").bigint(64),
  };
}
