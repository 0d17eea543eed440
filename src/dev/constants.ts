/** Maximum number of consecutive empty epochs. With more, inactivity penalties may eject all validators. */
export const MAX_EMPTY_EPOCHS = 2048;

/** Zero address: a dev chain's payloads contain no transactions, so there are no fees. */
export const DEV_FEE_RECIPIENT = new Uint8Array(20);
