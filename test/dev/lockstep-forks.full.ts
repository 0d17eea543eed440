// The variants of the second tier.
import "./lockstep.test.ts";
