/**
 * A JSON number that JavaScript's numbers cannot hold without changing it (beyond 2^53-1), or that is not written as a
 * plain integer (a fraction, an exponent, `-0`). It keeps its text, so that ids are echoed and parameters refused as sent.
 */
export class IrregularNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }
}
