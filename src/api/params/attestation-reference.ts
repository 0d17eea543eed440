import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { invalidParams } from "../../failure.ts";
import { parseFixedHex } from "./scalars.ts";
import { readSszJson, WrongPayload } from "./ssz-payload.ts";

/** One AttestationData in place of the slot and the root that follow from it. */
export function arrangeAttestationData(params: unknown[]): unknown[] {
  const [first] = params;
  if (params.length !== 1 || typeof first !== "object" || first === null || Array.isArray(first)) return params;
  try {
    const data = readSszJson(ssz.phase0.AttestationData, first);
    return [data.slot, toRootHex(ssz.phase0.AttestationData.hashTreeRoot(data))];
  } catch (error) {
    if (!(error instanceof WrongPayload)) throw error;
    throw invalidParams(`The attestation data ${error.message}`);
  }
}

/** REST lists the root before the slot; a root is never a slot, so both orders are understood. */
export function arrangeRootAfterSlot(params: unknown[]): unknown[] {
  const [first, second, ...rest] = params;
  const isSwapped = parseFixedHex(first, 32) !== undefined && parseFixedHex(second, 32) === undefined;
  return isSwapped ? [second, first, ...rest] : params;
}
