import type { KzgChoice } from "../../../../src/data/kzg/backend.ts";
import type { Kzg } from "../../../../src/data/kzg/kzg.ts";
import { ThreadedKzg } from "../../../../src/data/kzg/threaded-kzg.ts";
import { createRecordingLogger } from "../../log/recording-logger.ts";
import { kzgAt } from "./served-kzg.ts";

/** Environment variable with the URL of the shared backend. Without it, each process has its own. */
export const SHARED_KZG = "FANAL_TEST_KZG";

/** Opens the backend named by FANAL_KZG, like the program. Default: the first one that loads. */
export function openTestKzg(): ThreadedKzg {
  return new ThreadedKzg(createRecordingLogger(), { backend: process.env.FANAL_KZG as KzgChoice | undefined });
}

const { [SHARED_KZG]: url } = process.env;
const kzg = url === undefined ? openTestKzg() : kzgAt(url);

/** Backend shared by all tests. `close` has no effect. */
export const sharedKzg: Kzg = {
  commitmentOf: (blob) => kzg.commitmentOf(blob),
  blobProofOf: (blob, commitment) => kzg.blobProofOf(blob, commitment),
  verifyBlobs: (batch) => kzg.verifyBlobs(batch),
  cellsOf: (blob) => kzg.cellsOf(blob),
  cellsAndProofsOf: (blob) => kzg.cellsAndProofsOf(blob),
  verifyCells: (batch) => kzg.verifyCells(batch),
  recover: (cellIndices, cells) => kzg.recover(cellIndices, cells),
  prepare: () => kzg.prepare(),
  async close() {},
};
