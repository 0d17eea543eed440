/** Nobody: the payloads of a dev chain hold no transactions, so that there are no fees. */
export const DEV_FEE_RECIPIENT = new Uint8Array(20);
