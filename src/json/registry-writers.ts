import { type ByteWriter, constant } from "./byte-writer.ts";
import { BALANCE_BYTES, type RegistryChunks, VALIDATORS_PER_CHUNK } from "./registry-chunks.ts";
import { ROOM_BYTES } from "./stream-writer.ts";

const OPEN_LIST = "[".charCodeAt(0);
const CLOSE_LIST = "]".charCodeAt(0);
const COMMA = ",".charCodeAt(0);

const INDEX = constant('{"index":"');
const BALANCE = constant('","balance":"');
const END = constant('"}');

export type BalanceList = Pick<RegistryChunks, "count" | "balanceChunks">;

export function* writeBalances({ count, balanceChunks }: BalanceList, out: ByteWriter): Generator<void, void, void> {
  out.byte(OPEN_LIST);
  for (const [chunk, bytes] of balanceChunks.entries()) {
    const balances = new DataView(bytes);
    const first = chunk * VALIDATORS_PER_CHUNK;
    const end = Math.min(first + VALIDATORS_PER_CHUNK, count);
    for (let index = first; index < end; index++) {
      if (out.room < ROOM_BYTES) yield;
      if (index > 0) out.byte(COMMA);
      const at = (index - first) * BALANCE_BYTES;
      out.constant(INDEX);
      out.uint(index);
      out.constant(BALANCE);
      out.uint64(balances.getUint32(at, true), balances.getUint32(at + 4, true));
      out.constant(END);
    }
    yield;
  }
  out.byte(CLOSE_LIST);
}
