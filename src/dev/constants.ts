/** Limit of consecutive empty epochs. Beyond it inactivity penalties may eject all validators. */
export const MAX_EMPTY_EPOCHS = 2048;

/** Zero address: payloads of a dev chain hold no transactions, so there are no fees. */
export const DEV_FEE_RECIPIENT = new Uint8Array(20);
