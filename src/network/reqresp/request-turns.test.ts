import { describe, expect, test } from "vitest";
import { RequestTurns } from "./request-turns.ts";

const never = new AbortController().signal;

describe("turns", () => {
  test("are taken by so many at a time, in the order of asking", async () => {
    const turns = new RequestTurns(2, 10);
    const began: string[] = [];
    const take = async (name: string) => {
      const end = await turns.take("kind", never);
      began.push(name);
      return end;
    };
    const endA = await take("a");
    await take("b");
    const waiting = [take("c"), take("d")];
    const endOther = await turns.take("another kind", never);
    endOther();

    expect(began).toEqual(["a", "b"]);
    endA();
    endA();
    const endC = await waiting[0];
    expect(began).toEqual(["a", "b", "c"]);
    endC?.();
    await waiting[1];
    expect(began).toEqual(["a", "b", "c", "d"]);
  });

  test("are left by whoever gives up, and refused when too many wait", async () => {
    const turns = new RequestTurns(1, 1);
    const end = await turns.take("kind", never);
    const giving = new AbortController();
    const given = turns.take("kind", giving.signal);

    await expect(turns.take("kind", never)).rejects.toMatchObject({ failure: "disconnected" });
    giving.abort();
    await expect(given).rejects.toMatchObject({ failure: "disconnected" });
    await expect(turns.take("kind", giving.signal)).rejects.toMatchObject({ failure: "disconnected" });
    end();
    await expect(turns.take("kind", never)).resolves.toBeTypeOf("function");
  });
});
