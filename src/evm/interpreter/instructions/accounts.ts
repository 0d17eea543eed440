import type { AccountRecord } from "../../state/world.ts";
import { whenReady } from "../host.ts";
import type { Instructions } from "../instruction.ts";
import { setBigInt, setBytes, setNumber, setZero, toAddressBytes } from "../words/word.ts";
import { copyRange, takeCopyRange } from "./message.ts";

const NO_CODE = new Uint8Array(0);

/** Instructions that read other accounts. */
export const ACCOUNTS: Instructions = [
  {
    opcode: 0x31,
    name: "BALANCE",
    gas: 0,
    pops: 1,
    pushes: 1,
    hasDynamicGas: true,
    run: (frame) => {
      const { environment } = frame;
      const word = frame.peek();
      const address = toAddressBytes(word);
      frame.chargeAccountAccess(address);
      return whenReady(environment.host.state.account(address), (account) => {
        setBigInt(word, account?.balance ?? 0n);
      });
    },
  },
  {
    opcode: 0x3b,
    name: "EXTCODESIZE",
    gas: 0,
    pops: 1,
    pushes: 1,
    hasDynamicGas: true,
    run: (frame) => {
      const { environment } = frame;
      const word = frame.peek();
      const address = toAddressBytes(word);
      frame.chargeAccountAccess(address, environment.rules.codeReadGas);
      return whenReady(environment.host.state.account(address), (account) => {
        setNumber(word, account?.code.length ?? 0);
      });
    },
  },
  {
    opcode: 0x3c,
    name: "EXTCODECOPY",
    gas: 0,
    pops: 4,
    pushes: 0,
    hasDynamicGas: true,
    run: (frame) => {
      const { environment } = frame;
      const address = toAddressBytes(frame.pop());
      const range = takeCopyRange(frame);
      frame.chargeAccountAccess(address, environment.rules.codeReadGas);
      return whenReady(environment.host.state.account(address), (account) => {
        copyRange(frame, range, account?.code ?? NO_CODE);
      });
    },
  },
  {
    opcode: 0x3f,
    name: "EXTCODEHASH",
    gas: 0,
    pops: 1,
    pushes: 1,
    hasDynamicGas: true,
    run: (frame) => {
      const { environment } = frame;
      const word = frame.peek();
      const address = toAddressBytes(word);
      frame.chargeAccountAccess(address);
      return whenReady(environment.host.state.account(address), (account) => {
        if (account === undefined || isEmpty(account)) setZero(word);
        else setBytes(word, account.codeHash);
      });
    },
  },
];

/** Returns true if an account counts as nonexistent (EIP-161). */
export function isEmpty({ balance, nonce, code }: AccountRecord): boolean {
  return balance === 0n && nonce === 0n && code.length === 0;
}
