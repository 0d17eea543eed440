import { missingNativeModule, platformName } from "../../runtime/native-modules.ts";
import { KZG_BACKENDS, type KzgBackendName, type KzgChoice, type OpenBackend } from "./backend.ts";
import { loadCKzg } from "./backend-c-kzg.ts";
import { loadNodeEthKzg } from "./backend-node-eth-kzg.ts";
import { loadPortable } from "./backend-portable.ts";
import type { LoadReport } from "./jobs.ts";

const LOADERS: Record<KzgBackendName, () => Promise<OpenBackend>> = {
  "node-eth-kzg": loadNodeEthKzg,
  "c-kzg": loadCKzg,
  portable: loadPortable,
};

interface LoadedBackend extends LoadReport {
  open: OpenBackend;
}

/**
 * Loads the chosen backend; `auto` chooses the first one that loads.
 *
 * @throws Error with a sentence naming every backend tried and why it did not load
 */
export async function loadBackend(choice: KzgChoice, loaders = LOADERS): Promise<LoadedBackend> {
  const skipped: string[] = [];
  for (const backend of choice === "auto" ? KZG_BACKENDS : [choice]) {
    try {
      return { backend, open: await loaders[backend](), skipped };
    } catch (error) {
      skipped.push(`${backend}: ${reasonOf(error)}`);
    }
  }
  const subject = choice === "auto" ? "No KZG backend loads" : "The chosen KZG backend does not load";
  throw new Error(`${subject} on ${platformName()} (${skipped.join("; ")}).`);
}

/** Loader errors append the name of the importing file or a require stack. */
function reasonOf(error: unknown): string {
  const missingModule = missingNativeModule(error);
  if (missingModule && !missingModule.reason)
    return `${missingModule.package} is not installed for ${missingModule.platform}`;
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n", 1)[0]!.replace(/ imported from .*$/, "");
}
