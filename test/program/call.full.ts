import "./call.test.ts";
