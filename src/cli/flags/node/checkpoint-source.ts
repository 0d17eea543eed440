import { resolve } from "node:path";
import type { CheckpointSource } from "../../../node/checkpoint/anchor-block.ts";
import type { CheckpointPin } from "../../../node/checkpoint/checkpoint-pin.ts";
import { isUrl } from "../../../node/checkpoint/read-ssz.ts";
import { usageError } from "../../exit.ts";

interface CheckpointValues {
  checkpointState: string | undefined;
  checkpointBlock: string | undefined;
  checkpointSyncUrl: string | undefined;
  checkpointRoot: CheckpointPin | undefined;
}

const FINALIZED_STATE = "eth/v2/debug/beacon/states/finalized";

export function checkpointSource(values: CheckpointValues, workingDirectory: string): CheckpointSource | undefined {
  const { checkpointState, checkpointSyncUrl, checkpointRoot: pin } = values;
  const block = absoluteSource(values.checkpointBlock, workingDirectory);
  if (checkpointSyncUrl !== undefined) {
    const rival =
      checkpointState !== undefined ? "--checkpoint-state" : block !== undefined ? "--checkpoint-block" : "";
    if (rival !== "") {
      throw usageError(
        `${rival} and --checkpoint-sync-url are mutually exclusive: the URL provides the state and its block.`,
      );
    }
    const api = checkpointSyncUrl.replace(/\/*$/, "/");
    return { state: new URL(FINALIZED_STATE, api).href, block: undefined, api, pin };
  }
  const state = absoluteSource(checkpointState, workingDirectory);
  if (state === undefined) {
    if (pin !== undefined) {
      throw usageError(
        "--checkpoint-root requires --checkpoint-sync-url or --checkpoint-state: it is the block root of that state.",
      );
    }
    if (block === undefined) return undefined;
    throw usageError("--checkpoint-block requires --checkpoint-state: it is the latest block of that state.");
  }
  return { state, block, api: isUrl(state) ? new URL("/", state).href : undefined, pin };
}

export function absoluteSource(source: string | undefined, workingDirectory: string): string | undefined {
  return source === undefined || isUrl(source) ? source : resolve(workingDirectory, source);
}
