import { ssz } from "@lodestar/types";
import { byteArrayEquals } from "@lodestar/utils";
import type { PayloadRequest } from "./engine.ts";

/** Returns true if a payload built for one request also satisfies the other. */
export function isSameRequest(a: PayloadRequest, b: PayloadRequest): boolean {
  return (
    a.fork === b.fork &&
    a.slot === b.slot &&
    a.timestamp === b.timestamp &&
    a.targetGasLimit === b.targetGasLimit &&
    byteArrayEquals(a.parent.blockHash, b.parent.blockHash) &&
    byteArrayEquals(a.parentBeaconBlockRoot, b.parentBeaconBlockRoot) &&
    byteArrayEquals(a.prevRandao, b.prevRandao) &&
    byteArrayEquals(a.feeRecipient, b.feeRecipient) &&
    ssz.capella.Withdrawals.equals(a.withdrawals, b.withdrawals)
  );
}
