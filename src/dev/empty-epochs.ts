/**
 * Epochs that may stay empty at once. Validators that miss more of them lose so much of their balances that they may all be
 * ejected, and then nobody is left to go on with the chain.
 */
export const MOST_EMPTY_EPOCHS = 2048;
