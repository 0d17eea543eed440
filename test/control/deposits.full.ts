import "./deposits.test.ts";
