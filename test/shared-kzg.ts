import { KzgThread } from "../src/data/kzg-thread.ts";
import { createRecordingLogger } from "../src/log/recording-logger.test-support.ts";
import { serveKzg } from "./support/served-kzg.ts";
import { SHARED_KZG } from "./support/shared-kzg.ts";

/** Before the first test; the processes of the tests inherit the environment. What is returned runs after the last. */
export default async function shareKzg(): Promise<() => Promise<void>> {
  const kzg = new KzgThread(createRecordingLogger());
  const { url, close } = await serveKzg(kzg);
  process.env[SHARED_KZG] = url;
  return async () => {
    close();
    await kzg.close();
  };
}
