/** Real time, independent of the chain's clock. */
export interface TimeOfDay {
  /** Unix time in seconds, including fractions. */
  nowSeconds(): number;
}

export const TIME_OF_DAY: TimeOfDay = { nowSeconds: () => Date.now() / 1000 };
