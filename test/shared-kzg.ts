import { serveKzg } from "./support/data/kzg/served-kzg.ts";
import { openTestKzg, SHARED_KZG } from "./support/data/kzg/shared-kzg.ts";

/** Serves one KZG backend to all test processes of a run, since the trusted setup takes seconds to load. */
export default async function shareKzg(): Promise<() => Promise<void>> {
  const kzg = openTestKzg();
  const { url, close } = await serveKzg(kzg);
  process.env[SHARED_KZG] = url;
  return async () => {
    close();
    await kzg.close();
  };
}
