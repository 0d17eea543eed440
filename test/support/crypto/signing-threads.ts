import { SigningThread } from "../../../src/dev/validators/signing-thread.ts";

const { signAhead } = SigningThread.prototype;

/**
 * Keeps validators from starting signing threads. A thread takes longer to start than most tests sign, and its
 * signatures are not remembered.
 */
export function disableSigningThreads(): void {
  SigningThread.prototype.signAhead = () => {};
}

/** For tests of the threads. */
export function enableSigningThreads(): void {
  SigningThread.prototype.signAhead = signAhead;
}
