import "./builder.test.ts";
