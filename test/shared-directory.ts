import { SHARED_DIRECTORY } from "./support/chains/made-once.ts";
import { removableDirectory } from "./support/directories/removable-directory.ts";

/** Before the first test; the processes of the tests inherit the environment. What is returned runs after the last. */
export default function makeSharedDirectory(): () => void {
  const { path, remove } = removableDirectory();
  process.env[SHARED_DIRECTORY] = path;
  return remove;
}
