import { computeEpochAtSlot } from "@lodestar/state-transition";
import type { HeadRegistry } from "../server/method-table.ts";
import type { BoundMethods } from "./bound-methods.ts";
import { besideData } from "./encoding.ts";
import { metaOf, resolveState } from "./lookup.ts";
import { snapshotsOf } from "./registry-snapshots.ts";
import { aroundData } from "./rest/answer.ts";

/** The validators of the head with all that answers about a few of them are made of, whoever writes these. */
export async function headRegistry({ all }: BoundMethods): Promise<HeadRegistry> {
  const { context, codec } = all.find(({ excerpt }) => excerpt !== undefined)!;
  const { chain } = context;
  const resolved = await resolveState(chain, "head");
  const { state } = resolved;
  const snapshots = snapshotsOf(chain);
  const beside = besideData(codec!.meta, metaOf(resolved));
  return {
    validatorChunks: await snapshots.validators(state),
    balanceChunks: await snapshots.balances(state),
    keyTable: chain.keyTable,
    epoch: computeEpochAtSlot(state.slot),
    around: aroundData(beside.meta),
    ...beside,
  };
}
