import { SecretKey } from "@chainsafe/blst";
import { type Duration, timed } from "./row.ts";

const KEY = SecretKey.fromKeygen(new Uint8Array(32).fill(7));
const SIGNATURES = 200;

/** Measures BLS signatures of this machine, the unit in which slots are compared between machines and loads. */
export async function timeSignature(): Promise<Required<Duration>> {
  const message = new Uint8Array(32);
  const { elapsedMs, spentMs } = await timed(() => {
    for (let index = 0; index < SIGNATURES; index++) {
      message[0] = index;
      KEY.sign(message);
    }
  });
  return { elapsedMs: elapsedMs / SIGNATURES, spentMs: spentMs / SIGNATURES };
}
