import "./control.test.ts";
