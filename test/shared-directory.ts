import { SHARED_DIRECTORY } from "./support/chain/made-once.ts";
import { removableDirectory } from "./support/directories/removable-directory.ts";

/** Runs before the first test. Test processes inherit the environment. The returned function runs after the last test. */
export default function makeSharedDirectory(): () => void {
  const { path, remove } = removableDirectory();
  process.env[SHARED_DIRECTORY] = path;
  return remove;
}
