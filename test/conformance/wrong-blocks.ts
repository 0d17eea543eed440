import type { ExampleDevChain } from "../support/example-chain.ts";
import { fails, LAST_UINT64, REJECTED, ROOT, type SpecialCall } from "./special-call.ts";

interface SignedJson {
  message: Record<string, unknown>;
  signature: string;
}

const blockWith = async (chain: ExampleDevChain, changes: Record<string, unknown>) => {
  const block = await chain.signedBlock();
  const change = (signed: SignedJson) => ({ ...signed, message: { ...signed.message, ...changes } });
  if (!("signed_block" in block)) return [change(block as unknown as SignedJson)];
  return [{ ...block, signed_block: change(block.signed_block as SignedJson) }];
};
/** Well-formed blocks of the current slot that no node takes. */
export const wrongBlocks: SpecialCall[] = [
  fails("an unknown parent", REJECTED, (chain) => blockWith(chain, { parent_root: ROOT })),
  fails("a proposer that does not exist", REJECTED, (chain) => blockWith(chain, { proposer_index: "99" })),
  fails("a slot that has not come", REJECTED, (chain) => blockWith(chain, { slot: String(chain.slot + 9) })),
  fails("a slot of the finalized past", REJECTED, (chain) => blockWith(chain, { slot: "1" })),
  fails("the last of all slots", REJECTED, (chain) => blockWith(chain, { slot: LAST_UINT64 })),
];
