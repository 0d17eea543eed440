import "../vectors/ssz-static.test.ts";
