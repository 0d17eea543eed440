import "./objects.test.ts";
