import { startThread, type ThreadPort } from "../../../src/threads/thread.ts";
import { ThreadPool } from "../../../src/threads/thread-pool.ts";

const pool = new ThreadPool(() => startThread("./verification-worker", import.meta.url));

/**
 * Returns a thread for signatures that earlier chains of this process may have used. Starting one takes longer than the
 * signatures of most tests.
 */
export function takeVerificationThread(): ThreadPort {
  return pool.take();
}
