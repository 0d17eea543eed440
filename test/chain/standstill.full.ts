import "./standstill.test.ts";
