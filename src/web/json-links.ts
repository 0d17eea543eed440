const ROOT = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const PUBKEY = /^0x[0-9a-f]{96}$/;
/** Integers are strings. FAR_FUTURE_EPOCH has more digits than this. */
const INTEGER = /^\d{1,15}$/;

const BLOCK_ROOT = /^(block|parent_root|(\w+_)?block_root|\w+_head_block)$/;
const STATE_ROOT = /^(state|state_root|\w+_head_state)$/;
const SLOT = /^(\w+_)?slot$/;
const EPOCH = /^(\w+_)?epoch$/;
const VALIDATOR = /^(validator|validator_index|proposer_index|aggregator_index|source_index|target_index)$/;
/** Members of eth_* responses that hold an account. */
const ACCOUNT = /^(from|to|address|miner|contractAddress)$/;
const EXECUTION_BLOCK = /^(blockHash|parentHash)$/;
const VALIDATOR_LIST = /^(validators|attesting_indices|proposers)$/;

/** Position of a value in a JSON document. */
export interface JsonContext {
  /** Name of the member, or of the list that holds the value. */
  name: string;
  isListItem: boolean;
  /** Object that the member belongs to. */
  siblings: object;
  /** Type of the object that a member named `root` refers to. */
  rootOf: "block" | "state";
}

/** Returns the page for a root, slot, validator, account or similar, or undefined for any other value. */
export function pageOf(value: unknown, { name, isListItem, siblings, rootOf }: JsonContext): string | undefined {
  if (typeof value !== "string") return undefined;
  const to = (page: string) => `#/${page}/${value}`;
  if (PUBKEY.test(value)) return name === "pubkey" ? to("validator") : undefined;
  if (isListItem) return INTEGER.test(value) && VALIDATOR_LIST.test(name) ? to("validator") : undefined;
  if (ROOT.test(value)) {
    if (name === "root") return to(rootOf);
    if (BLOCK_ROOT.test(name)) return to("block");
    if (EXECUTION_BLOCK.test(name) || (name === "hash" && "transactionsRoot" in siblings)) return to("execution-block");
    if (name === "transactionHash" || (name === "hash" && "nonce" in siblings)) return to("transaction");
    return STATE_ROOT.test(name) ? to("state") : undefined;
  }
  if (ADDRESS.test(value)) return ACCOUNT.test(name) ? to("account") : undefined;
  if (!INTEGER.test(value)) return undefined;
  if (SLOT.test(name)) return to("block");
  if (EPOCH.test(name)) return to("epoch");
  const isValidator = VALIDATOR.test(name) || (name === "index" && "balance" in siblings);
  return isValidator ? to("validator") : undefined;
}
