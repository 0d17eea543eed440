import type { KzgChoice } from "../data/kzg/backend.ts";
import type { Kzg } from "../data/kzg/kzg.ts";
import { ThreadedKzg } from "../data/kzg/threaded-kzg.ts";
import { KzgUnavailableError } from "../data/kzg/worker-pool.ts";
import type { Logger } from "../log/logger.ts";
import { StartError } from "./start-error.ts";

/** Opens the KZG backend. Loads a named backend immediately; `auto` loads on the first job. */
export async function openKzg(choice: KzgChoice = "auto", logger: Logger): Promise<Kzg> {
  const kzg = new ThreadedKzg(logger.topic("chain"), { backend: choice });
  if (choice === "auto") return kzg;
  try {
    await kzg.load();
    return kzg;
  } catch (error) {
    if (error instanceof KzgUnavailableError) throw new StartError("noKzgBackend", error.message, error);
    throw error;
  }
}
