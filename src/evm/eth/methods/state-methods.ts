import { NO_CODE, NO_CODE_HASH } from "../../state/world.ts";
import { type BlockId, LATEST } from "../block-id.ts";
import type { EthChain } from "../eth-chain.ts";
import { EthError } from "../eth-error.ts";
import { data, quantity, word } from "../json/hex.ts";

export interface AccountArgs {
  address: Uint8Array;
  block?: BlockId | undefined;
}

interface SlotArgs extends AccountArgs {
  /** 32-byte slot. */
  slot: Uint8Array;
}

interface ProofArgs extends AccountArgs {
  /** Storage slots of at most 32 bytes, in the notation that the response uses. */
  slots: readonly string[];
}

const MAX_PROOF_SLOTS = 1024;

/** Methods that read accounts. */
export function stateMethods(chain: EthChain) {
  const { reader } = chain.engine.executor;
  const accountOf = async ({ address, block = LATEST }: AccountArgs) =>
    reader.account((await chain.withState(block)).world, address);
  return {
    getBalance: async (args: AccountArgs) => quantity((await accountOf(args))?.balance ?? 0n),
    getCode: async (args: AccountArgs) => data((await accountOf(args))?.code ?? NO_CODE),
    getStorageAt: async ({ slot, ...args }: SlotArgs) => word(reader.slot((await accountOf(args))?.storage, slot)),
    getTransactionCount: async (args: AccountArgs) => quantity((await accountOf(args))?.nonce ?? 0n),
    getProof: async ({ address, slots, block = LATEST }: ProofArgs) => {
      if (slots.length > MAX_PROOF_SLOTS) throw new EthError(`too many keys (limit ${MAX_PROOF_SLOTS})`, -32602);
      const { world } = await chain.withState(block);
      const proof = reader.proof(world, address, slots.map(slotBytes));
      const { account, storageRoot, accountProof, storageProof } = proof;
      return {
        address: data(address),
        accountProof: accountProof.map(data),
        balance: quantity(account?.balance ?? 0n),
        codeHash: data(account?.codeHash ?? NO_CODE_HASH),
        nonce: quantity(account?.nonce ?? 0n),
        storageHash: data(storageRoot),
        storageProof: storageProof.map(({ value, proof }, index) => ({
          key: slots[index],
          value: value.length === 0 ? "0x0" : quantity(BigInt(data(value))),
          proof: proof.map(data),
        })),
      };
    },
  };
}

/** Decodes a slot from hex digits, padding it to 32 bytes. */
function slotBytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.slice(2).padStart(64, "0"), "hex"));
}
