import { tempDirectory } from "../directories/temp-directory.ts";
import { Program } from "../program/program.ts";
import { ATTACKS } from "./attacks.ts";
import { Clients, type Target } from "./clients.ts";
import { targetOf } from "./siege.ts";

/** Few enough connections for every machine. */
const SCALE = 0.02;

/** Starts a node with a short chain for the duration of a test. */
export async function openTarget(): Promise<{ program: Program; target: Target }> {
  const program = await Program.dev([
    ...["--data-dir", tempDirectory(), "--validators", "8", "--warmup-epochs", "2"],
    ...["--rest", "--rest-port", "0"],
  ]);
  await program.untilLine(/Dev chain is running/);
  return { program, target: await targetOf(program) };
}

/** Begins an attack in this process. Returns a function that ends it. */
export function beginAttack(name: string, target: Target): () => Promise<void> {
  const end = new AbortController();
  const over = ATTACKS[name]!(new Clients(target, end.signal, { scale: SCALE }));
  return () => {
    end.abort();
    return over;
  };
}
