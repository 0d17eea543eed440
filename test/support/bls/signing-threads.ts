import { SigningThread } from "../../../src/dev/validators/signing-thread.ts";

const { signAhead } = SigningThread.prototype;

/**
 * Disables signing threads. Starting a thread takes longer than the signatures of most tests, and its signatures are
 * not cached.
 */
export function disableSigningThreads(): void {
  SigningThread.prototype.signAhead = () => {};
}

/** Enables signing threads, for their own tests. */
export function enableSigningThreads(): void {
  SigningThread.prototype.signAhead = signAhead;
}
